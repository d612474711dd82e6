// What is recorded of a manifest: the part that the code owns, in a fixed order, with a checksum over the rest of it.

import canonicalize from 'canonicalize';
import { loadCrypto } from '../../support/builtins.ts';
import type { NodeManifest } from '../octonode.ts';
import type { Json, JsonObject } from '../project/project.ts';
import type { Source } from './sources.ts';

/** Deeper manifests are refused: schemas are not, and everything that walks them is recursive. */
const MAX_MANIFEST_DEPTH = 100;
const MAX_SHOWN_CHARACTERS = 60;
/** Differences named in a report; more are counted. */
const MAX_CHANGES = 20;

export interface Change {
  /** Dotted, such as `inputs.properties.name.type`. */
  path: string;
  /** Undefined when it was not there. */
  before: Json | undefined;
  after: Json | undefined;
}

/** Throws an Error for a person when the manifest cannot be recorded. */
export function signatureOf(manifest: NodeManifest, source: Source): JsonObject {
  const { language, kind, inputs, outputs, defaults, setup, service } = manifest;
  const fields = {
    language,
    command: [...source.command],
    cwd: source.cwd,
    kind,
    inputs,
    outputs,
    defaults,
    setup,
    service,
  };
  requireDepth(fields, 0);
  // It came as JSON, so what is left without the absent fields is JSON.
  const present = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  return withChecksum(present as JsonObject);
}

/** The signature with the sha256 of the canonical JSON (RFC 8785) of the rest of it. */
export function withChecksum({ checksum: _old, ...rest }: JsonObject): JsonObject {
  const checksum = loadCrypto().createHash('sha256').update(canonicalText(rest)).digest('hex');
  const { orphaned, ...fields } = rest;
  return { ...fields, checksum, ...(orphaned === undefined ? {} : { orphaned }) };
}

/** Equal for equal values, whatever the order of keys. Throws for text that is not Unicode. */
export function canonicalText(value: unknown): string {
  return canonicalize(value) ?? 'null';
}

/** Where two signatures differ, down to single fields; the checksum only when nothing else does. */
export function changesBetween(before: JsonObject, after: JsonObject): Change[] {
  const changes = differences('', before, after);
  const meant = changes.filter(({ path }) => path !== 'checksum');
  return (meant.length > 0 ? meant : changes).slice(0, MAX_CHANGES);
}

/** `inputs.type: "string" → "number"`. */
export function describeChange({ path, before, after }: Change): string {
  if (before === undefined) return `${path} added: ${shown(after)}`;
  if (after === undefined) return `${path} removed`;
  return `${path}: ${shown(before)} → ${shown(after)}`;
}

function differences(path: string, before: Json | undefined, after: Json | undefined): Change[] {
  if (isObject(before) && isObject(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) =>
      differences(path === '' ? key : `${path}.${key}`, own(before, key), own(after, key)),
    );
  }
  if (before !== undefined && after !== undefined && canonicalText(before) === canonicalText(after))
    return [];
  return before === undefined && after === undefined ? [] : [{ path, before, after }];
}

function own(value: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shown(value: Json | undefined): string {
  const text = JSON.stringify(value) ?? '';
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
}

function requireDepth(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_MANIFEST_DEPTH)
    throw new Error(`Manifest is nested more than ${MAX_MANIFEST_DEPTH} levels deep`);
  for (const part of Object.values(value)) requireDepth(part, depth + 1);
}
