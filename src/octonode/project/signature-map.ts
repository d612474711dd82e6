// A recorded value brought up to date inside the document model: keys that did not change keep their place, their style
// and their comments; the others are set, added or taken away.

import type { Document, Pair, YAMLMap } from 'yaml';

export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

/** What the code says about one node. */
export interface NodeEdit {
  id: string;
  signature: JsonObject;
  /** Laid under `presentation` where it says nothing; for a node whose signature is recorded for the first time. */
  seeds: JsonObject;
}

/** How a node that was not there is written. */
export function newEntry({ id, signature, seeds }: NodeEdit): JsonObject {
  return Object.keys(seeds).length === 0 ? { id, signature } : { id, signature, presentation: seeds };
}

/** A node for `value`; lists of plain values stand on one line, and a name that means something in YAML is quoted. */
export function createValue(document: Document, value: Json): unknown {
  const node = document.createNode(value, { aliasDuplicateObjects: false });
  flattenLists(node);
  return node;
}

/** Makes `map` say what `value` says. */
export function updateMap(document: Document, map: YAMLMap, value: JsonObject): void {
  map.items = map.items.filter((pair) => Object.hasOwn(value, keyText(pair)));
  for (const [key, part] of Object.entries(value)) {
    const pair = map.items.find((candidate) => keyText(candidate) === key);
    if (pair === undefined) {
      const fresh = document.createPair(key, createValue(document, part));
      quoteMergeKey(fresh);
      map.items.push(fresh);
    } else updatePair(document, pair, part);
  }
}

function updatePair(document: Document, pair: Pair, value: Json): void {
  const old = isNode(pair.value) ? pair.value : undefined;
  if (old !== undefined && isSame(old.toJS(document), value)) return;
  if (isMap(old) && isJsonObject(value)) return updateMap(document, old, value);
  const fresh = createValue(document, value);
  if (isNode(fresh) && old !== undefined) {
    fresh.comment = old.comment ?? null;
    fresh.commentBefore = old.commentBefore ?? null;
    if (isCollection(fresh) && isCollection(old)) fresh.flow = old.flow === true;
  }
  pair.value = fresh;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface AnyNode {
  comment?: string | null;
  commentBefore?: string | null;
  toJS(document: Document): unknown;
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'toJS' in value;
}

function isCollection(node: unknown): node is AnyNode & { items: unknown[]; flow?: boolean } {
  return isNode(node) && 'items' in node && Array.isArray(node.items);
}

function isMap(node: AnyNode | undefined): node is YAMLMap & AnyNode {
  return isCollection(node) && 'set' in node && hasPairs(node.items);
}

function hasPairs(items: readonly unknown[]): boolean {
  return items.every((item) => typeof item === 'object' && item !== null && 'key' in item);
}

function keyText(pair: Pair): string {
  const key: unknown = pair.key;
  const value = typeof key === 'object' && key !== null && 'value' in key ? key.value : key;
  return String(value);
}

function isSame(a: unknown, b: Json): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function flattenLists(node: unknown): void {
  if (!isCollection(node)) return;
  const parts = node.items.map((item) =>
    typeof item === 'object' && item !== null && 'key' in item && 'value' in item ? item.value : item,
  );
  const isList = !hasPairs(node.items) || node.items.length === 0;
  if (isList && !parts.some(isCollection)) node.flow = true;
  for (const item of node.items) quoteMergeKey(item);
  for (const part of parts) flattenLists(part);
}

/** A plain `<<` merges another map into this one (YAML 1.1); here it is a name like any other. */
function quoteMergeKey(pair: unknown): void {
  if (typeof pair !== 'object' || pair === null || !('key' in pair)) return;
  const { key } = pair;
  if (isNode(key) && 'value' in key && key.value === '<<') Object.assign(key, { type: 'QUOTE_DOUBLE' });
}
