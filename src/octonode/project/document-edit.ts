// The same change made on values and on the whole document: what the file must say afterwards, and the fallback for texts
// in which lines cannot be replaced one by one. Comments and order are kept, line breaks inside values may move.

import type { YAMLMap } from 'yaml';
import {
  createValue,
  isJsonObject,
  type JsonObject,
  type NodeEdit,
  newEntry,
  updateMap,
} from './signature-map.ts';

/** What the file says when the edits are made. */
export function expectedContent(content: unknown, edits: readonly NodeEdit[]): unknown {
  if (!isJsonObject(content)) return content;
  const nodes = Array.isArray(content['nodes']) ? content['nodes'] : [];
  const byId = new Map(edits.map((edit) => [edit.id, edit]));
  const updated = nodes.map((entry) => {
    const edit = isJsonObject(entry) ? byId.get(String(entry['id'])) : undefined;
    if (edit === undefined || !isJsonObject(entry)) return entry;
    byId.delete(edit.id);
    return withSignature(entry, edit);
  });
  return { ...content, nodes: [...updated, ...[...byId.values()].map(newEntry)] };
}

/** The whole document written anew. */
export function editDocument(yaml: typeof import('yaml'), text: string, edits: readonly NodeEdit[]): string {
  const document = yaml.parseDocument(text, { merge: true });
  if (!yaml.isSeq(document.get('nodes', true))) document.set('nodes', document.createNode([]));
  const nodes: unknown = document.get('nodes', true);
  if (!yaml.isSeq(nodes)) return text;
  for (const edit of edits) {
    const entry = nodes.items.find((item) => yaml.isMap(item) && item.get('id') === edit.id);
    if (!yaml.isMap(entry)) {
      nodes.items.push(createValue(document, newEntry(edit)));
      nodes.flow = false;
      continue;
    }
    const old: unknown = entry.get('signature', true);
    if (yaml.isMap(old)) updateMap(document, old, edit.signature);
    else entry.set('signature', createValue(document, edit.signature));
    const presentation: unknown = entry.get('presentation', true);
    const target = yaml.isMap(presentation) ? presentation : undefined;
    seed(document, { entry, target }, edit.seeds);
  }
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

function seed(
  document: Parameters<typeof updateMap>[0],
  { entry, target }: { entry: YAMLMap; target: YAMLMap | undefined },
  seeds: JsonObject,
): void {
  if (Object.keys(seeds).length === 0) return;
  if (target === undefined) return entry.set('presentation', createValue(document, seeds));
  for (const [key, value] of Object.entries(seeds))
    if (!target.has(key)) target.set(key, createValue(document, value));
}

function withSignature(entry: JsonObject, { signature, seeds }: NodeEdit): JsonObject {
  const old = entry['signature'];
  const result: JsonObject = {
    ...entry,
    signature: isJsonObject(old) ? inOrderOf(old, signature) : signature,
  };
  if (Object.keys(seeds).length === 0) return result;
  const presentation = entry['presentation'];
  return {
    ...result,
    presentation: isJsonObject(presentation) ? { ...presentation, ...without(seeds, presentation) } : seeds,
  };
}

/** Keys keep the places they had, new ones follow; at every depth at which both are mappings. */
function inOrderOf(old: JsonObject, fresh: JsonObject): JsonObject {
  const keys = [...new Set([...Object.keys(old), ...Object.keys(fresh)])].filter((key) =>
    Object.hasOwn(fresh, key),
  );
  return Object.fromEntries(
    keys.map((key) => {
      const [before, after] = [old[key], fresh[key]];
      return [key, isJsonObject(before) && isJsonObject(after) ? inOrderOf(before, after) : (after ?? null)];
    }),
  );
}

function without(values: JsonObject, taken: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([key]) => !Object.hasOwn(taken, key)));
}
