// Does a value fit a JSON Schema? By ajv, loaded on first use: draft-07 and 2020-12, with formats. A schema that cannot
// be used is told as an error of its own, never thrown. Each schema is compiled once, in a bounded cache.

import type { Ajv, ValidateFunction } from 'ajv';
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
}

type Compiled = { status: 'ok'; validate: ValidateFunction } | { status: 'broken'; reason: string };

interface Compilers {
  draft7: Ajv;
  draft2020: Ajv;
}

const OK: SchemaVerdict = { status: 'ok' };
/** Keywords that only 2020-12 has: a schema with one of them and without `$schema` is taken for that draft. */
const ONLY_2020 =
  /"(?:prefixItems|dependentSchemas|dependentRequired|unevaluatedProperties|unevaluatedItems|\$dynamicRef|minContains|maxContains)":/;

export function createSchemaChecker(): SchemaChecker {
  let compilers: Promise<Compilers> | undefined;
  const byIdentity = new WeakMap<object, Compiled>();
  const byText = new Map<string, Compiled>();

  async function compiledFor(schema: object): Promise<Compiled> {
    const known = byIdentity.get(schema);
    if (known !== undefined) return known;
    const text = JSON.stringify(schema);
    let compiled = byText.get(text);
    if (compiled === undefined) {
      compilers ??= loadCompilers();
      compiled = compile(await compilers, schema, text);
      const [oldest] = byText.keys();
      if (oldest !== undefined && byText.size >= MAX_COMPILED_SCHEMAS) byText.delete(oldest);
      byText.set(text, compiled);
    }
    byIdentity.set(schema, compiled);
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
  };
}

async function loadCompilers(): Promise<Compilers> {
  const [{ Ajv }, { Ajv2020 }, formats] = await Promise.all([
    import('ajv'),
    import('ajv/dist/2020.js'),
    import('ajv-formats'),
  ]);
  const options = { strict: false, allErrors: true, logger: false } as const;
  const compilers: Compilers = { draft7: new Ajv(options), draft2020: new Ajv2020(options) };
  // A CommonJS module: the plugin is `default`, and once more inside it where modules are not bundled.
  const plugin = formats.default as unknown as { default?: (ajv: Ajv) => unknown } & ((ajv: Ajv) => unknown);
  for (const ajv of [compilers.draft7, compilers.draft2020]) (plugin.default ?? plugin)(ajv);
  return compilers;
}

function compile(compilers: Compilers, schema: object, text: string): Compiled {
  const ajv = isDraft2020(schema, text) ? compilers.draft2020 : compilers.draft7;
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

function isDraft2020(schema: object, text: string): boolean {
  const named: unknown = '$schema' in schema ? schema.$schema : undefined;
  return typeof named === 'string' ? named.includes('2020-12') : ONLY_2020.test(text);
}

function judge(validate: ValidateFunction, value: unknown): SchemaVerdict {
  if (validate(value)) return OK;
  const errors = (validate.errors ?? []).slice(0, MAX_SCHEMA_ERRORS).map((error) => ({
    path: error.instancePath,
    message: error.message ?? error.keyword,
  }));
  // The compiled function lives on in the cache and would hold the value through its errors.
  validate.errors = null;
  return { status: 'invalid', errors };
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
