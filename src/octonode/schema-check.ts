// Does a value fit a JSON Schema? By ajv, loaded on first use: draft-07 and 2020-12, with formats. A schema that cannot
// be used is told as an error of its own, never thrown. Each schema is compiled once, in a bounded cache.

import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import { MAX_COMPILED_SCHEMAS, MAX_SCHEMA_ERRORS } from './limits.ts';

export interface SchemaError {
  /** JSON Pointer of the value in question; empty for the whole. */
  path: string;
  message: string;
}

export type SchemaVerdict = { status: 'ok' } | { status: 'invalid'; errors: SchemaError[] };

export interface SchemaChecker {
  /** `schema` undefined or true fits everything and loads nothing. */
  check(schema: unknown, value: unknown): Promise<SchemaVerdict>;
  /** As `check`, at once; undefined when the schema was not compiled yet. */
  checkNow(schema: unknown, value: unknown): SchemaVerdict | undefined;
  /** Why no value can be checked with `schema`; undefined when it can be used. */
  problemOf(schema: unknown): Promise<string | undefined>;
  /** Compiles ahead, so that a first check is as fast as the next. */
  prepare(schemas: readonly unknown[]): Promise<void>;
}

type Compiled = { status: 'ok'; validate: ValidateFunction } | { status: 'broken'; reason: string };

type Draft = 'draft-07' | '2020-12';

const MAX_SCHEMA_DEPTH = 200;
const OK: SchemaVerdict = { status: 'ok' };
/** Keywords that only 2020-12 has: a schema with one of them and without `$schema` is taken for that draft. */
const ONLY_2020 =
  /"(?:prefixItems|dependentSchemas|dependentRequired|unevaluatedProperties|unevaluatedItems|\$dynamicRef|minContains|maxContains)":/;

export function createSchemaChecker(): SchemaChecker {
  const compilers = new Map<Draft, Promise<Ajv>>();
  const byIdentity = new WeakMap<object, Compiled>();
  const byText = new Map<string, Compiled>();

  async function compiledFor(schema: object): Promise<Compiled> {
    const known = byIdentity.get(schema);
    if (known !== undefined) return known;
    const text = JSON.stringify(schema);
    const compiled = byText.get(text) ?? (await compileText(schema, text));
    byIdentity.set(schema, compiled);
    return compiled;
  }

  async function compileText(schema: object, text: string): Promise<Compiled> {
    const draft = draftOf(schema, text);
    const ajv = compilers.get(draft) ?? loadCompiler(draft);
    compilers.set(draft, ajv);
    const compiled = compile(await ajv, schema);
    const [oldest] = byText.keys();
    if (oldest !== undefined && byText.size >= MAX_COMPILED_SCHEMAS) byText.delete(oldest);
    byText.set(text, compiled);
    return compiled;
  }

  return {
    async check(schema, value) {
      if (schema === undefined || schema === true) return OK;
      if (schema === false)
        return { status: 'invalid', errors: [{ path: '', message: 'No value is allowed here' }] };
      if (typeof schema !== 'object' || schema === null) return broken('it is not an object');
      try {
        const compiled = await compiledFor(schema);
        return compiled.status === 'ok' ? judge(compiled.validate, value) : broken(compiled.reason);
      } catch (error) {
        // A cycle in a schema object, or a value nested too deeply for a recursive schema.
        return broken(reasonOf(error));
      }
    },
    checkNow(schema, value) {
      if (schema === undefined || schema === true) return OK;
      const compiled = typeof schema === 'object' && schema !== null ? byIdentity.get(schema) : undefined;
      if (compiled?.status !== 'ok') return undefined;
      try {
        return judge(compiled.validate, value);
      } catch (error) {
        return broken(reasonOf(error));
      }
    },
    async problemOf(schema) {
      if (schema === undefined || typeof schema === 'boolean') return undefined;
      if (typeof schema !== 'object' || schema === null) return 'it is not an object';
      try {
        const compiled = await compiledFor(schema);
        return compiled.status === 'ok' ? undefined : compiled.reason;
      } catch (error) {
        return reasonOf(error);
      }
    },
    async prepare(schemas) {
      for (const schema of schemas) {
        if (typeof schema !== 'object' || schema === null) continue;
        // What makes it unusable is told when it is used.
        await compiledFor(schema).catch(() => undefined);
      }
    },
  };
}

async function loadCompiler(draft: Draft): Promise<Ajv> {
  // Judging a schema by its meta-schema costs 20 ms in every process; ajv refuses wrong keyword values without it, and
  // misplaced subschemas are found by `misplacedSchema`.
  const options = {
    strict: false,
    allErrors: true,
    logger: false,
    ownProperties: true,
    validateSchema: false,
  } as const;
  const [ajv, formats] = await Promise.all([
    draft === '2020-12'
      ? import('ajv/dist/2020.js').then((module) => new module.Ajv2020(options))
      : import('ajv').then((module) => new module.Ajv(options)),
    import('ajv-formats'),
  ]);
  // A CommonJS module: the plugin is `default`, and once more inside it where modules are not bundled.
  const plugin = formats.default as unknown as { default?: (ajv: Ajv) => unknown } & ((ajv: Ajv) => unknown);
  (plugin.default ?? plugin)(ajv);
  return ajv;
}

function compile(ajv: Ajv, schema: object): Compiled {
  const misplaced = misplacedSchema(schema, '', 0);
  if (misplaced !== undefined) return { status: 'broken', reason: `${misplaced} is not a schema` };
  const named: unknown = '$schema' in schema ? schema.$schema : undefined;
  if (named !== undefined && (typeof named !== 'string' || !/draft-07|2020-12/.test(named))) {
    return {
      status: 'broken',
      reason: `"$schema" is ${JSON.stringify(named)}; draft-07 and 2020-12 are known`,
    };
  }
  try {
    const validate = ajv.compile(schema);
    if ('$async' in validate) return { status: 'broken', reason: '"$async" schemas are not supported' };
    return { status: 'ok', validate };
  } catch (error) {
    return { status: 'broken', reason: reasonOf(error) };
  } finally {
    // ajv would keep each schema for ever, and refuse a second one with the same $id.
    ajv.removeSchema(schema);
  }
}

const ONE_SCHEMA = new Set([
  'additionalProperties',
  'additionalItems',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
const SCHEMAS_BY_NAME = new Set([
  '$defs',
  'definitions',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);
const SCHEMA_LISTS = new Set(['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems']);

/** Where something stands in the place of a schema that is none; undefined when all is well. */
function misplacedSchema(schema: unknown, path: string, depth: number): string | undefined {
  if (typeof schema === 'boolean') return undefined;
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema) || depth > MAX_SCHEMA_DEPTH)
    return path || 'it';
  for (const [keyword, value] of Object.entries(schema)) {
    const here = `${path}/${keyword}`;
    const holdsMany = SCHEMAS_BY_NAME.has(keyword) || (SCHEMA_LISTS.has(keyword) && Array.isArray(value));
    const inner: [string, unknown][] =
      holdsMany && typeof value === 'object' && value !== null
        ? Object.entries(value).map(([name, part]) => [`${here}/${name}`, part])
        : [];
    if (!holdsMany && ONE_SCHEMA.has(keyword)) inner.push([here, value]);
    for (const [place, part] of inner) {
      const found = misplacedSchema(part, place, depth + 1);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function draftOf(schema: object, text: string): Draft {
  const named: unknown = '$schema' in schema ? schema.$schema : undefined;
  const is2020 = typeof named === 'string' ? named.includes('2020-12') : ONLY_2020.test(text);
  return is2020 ? '2020-12' : 'draft-07';
}

function judge(validate: ValidateFunction, value: unknown): SchemaVerdict {
  if (validate(value)) return OK;
  const errors = (validate.errors ?? []).slice(0, MAX_SCHEMA_ERRORS).map((error) => ({
    path: error.instancePath,
    message: messageOf(error),
  }));
  // The compiled function lives on in the cache and would hold the value through its errors.
  validate.errors = null;
  return { status: 'invalid', errors };
}

function messageOf({ keyword, message = keyword, params }: ErrorObject): string {
  return keyword === 'additionalProperties'
    ? `${message} (${JSON.stringify(params.additionalProperty)})`
    : message;
}

function broken(reason: string): SchemaVerdict {
  return {
    status: 'invalid',
    errors: [{ path: '', message: `The schema itself cannot be used: ${reason}` }],
  };
}

function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 500);
}
