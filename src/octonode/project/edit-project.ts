// Signatures into the text of a project file. Only the lines of a changed signature are written anew, in place; every other
// byte stays as it was, comments, blank lines and quotes included. The result is read back and compared before it is
// answered; where the text is laid out so that lines cannot be replaced, the whole document is written instead.

import type { Document, Node, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import { editDocument, expectedContent } from './document-edit.ts';
import type { ParsedProject } from './project-text.ts';
import { createValue, type JsonObject, type NodeEdit, newEntry, updateMap } from './signature-map.ts';

interface Splice {
  start: number;
  end: number;
  text: string;
}

type Yaml = typeof import('yaml');

/** The text with these signatures; the same text when there is nothing to change. Throws an Error when it cannot be written. */
export async function editProject(parsed: ParsedProject, edits: readonly NodeEdit[]): Promise<string> {
  if (edits.length === 0) return parsed.text;
  const yaml = await import('yaml');
  const expected = JSON.stringify(expectedContent(parsed.document.toJS(), edits));
  const asJson = rewriteJson(parsed.text, expected);
  if (asJson !== undefined) return asJson;
  const spliced = spliceText(yaml, parsed, edits);
  if (spliced !== undefined && saysExactly(yaml, spliced, expected)) return spliced;
  const rewritten = editDocument(yaml, parsed.text, edits);
  if (saysExactly(yaml, rewritten, expected)) return rewritten;
  throw new Error('Cannot write the signatures into the project file: it would not say what it should');
}

/** A file in JSON stays JSON, with its own indentation. */
function rewriteJson(text: string, expected: string): string | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const indent = /^\{\r?\n([ \t]+)/.exec(text.trimStart())?.[1] ?? (text.includes('\n') ? '  ' : '');
  const end = /\s*$/.exec(text)?.[0] ?? '';
  return `${JSON.stringify(JSON.parse(expected), null, indent)}${end}`;
}

function saysExactly(yaml: Yaml, text: string, expected: string): boolean {
  const document = yaml.parseDocument(text, { merge: true });
  return document.errors.length === 0 && JSON.stringify(document.toJS()) === expected;
}

/** Undefined when the file is laid out in a way that lines cannot be replaced in. */
function spliceText(
  yaml: Yaml,
  { text, document }: ParsedProject,
  edits: readonly NodeEdit[],
): string | undefined {
  const nodes: unknown = document.get('nodes', true);
  const entries = yaml.isSeq(nodes) ? nodes.items : [];
  const splices: Splice[] = [];
  const added: NodeEdit[] = [];
  for (const edit of edits) {
    const entry = entries.find((item) => yaml.isMap(item) && item.get('id') === edit.id);
    if (entry === undefined) {
      added.push(edit);
      continue;
    }
    const changed = entrySplices({ yaml, text, document }, entry as YAMLMap, edit);
    if (changed === undefined) return undefined;
    splices.push(...changed);
  }
  if (added.length > 0) {
    const splice = additionSplice({ yaml, text, document }, nodes, added);
    if (splice === undefined) return undefined;
    splices.push(splice);
  }
  return applySplices(text, splices);
}

interface Place {
  yaml: Yaml;
  text: string;
  document: Document;
}

function entrySplices(place: Place, entry: YAMLMap, edit: NodeEdit): Splice[] | undefined {
  const signature = pairIn(place, entry, 'signature');
  if (signature === undefined) return entry.flow === true ? undefined : firstRecord(place, entry, edit);
  const isPlain = place.yaml.isMap(signature.value) && Object.keys(edit.seeds).length === 0;
  return isPlain ? [signatureSplice(place, signature, edit)] : undefined;
}

function signatureSplice({ yaml, text, document }: Place, pair: Pair, edit: NodeEdit): Splice {
  const value = pair.value as YAMLMap;
  const [start, end] = rangeOf(value);
  const map = value.clone() as YAMLMap;
  // It stands before the first key: outside of what is replaced.
  map.commentBefore = null;
  updateMap(document, map, edit.signature);
  const indent = map.flow === true ? '' : ' '.repeat(columnOf(text, start));
  // As deep as the person's own steps are.
  const step = columnOf(text, start) - columnOf(text, rangeOf(pair.key as Scalar)[0]);
  const lines = renderNode(yaml, map, { indent, step });
  return { start, end, text: matchEnd(text.slice(start, end), lines.slice(indent.length)) };
}

/** The signature and the seeds behind what a person began. */
function firstRecord(place: Place, entry: YAMLMap, { signature, seeds }: NodeEdit): Splice[] | undefined {
  const { yaml, text, document } = place;
  const insert = (into: YAMLMap, value: JsonObject): Splice => {
    const [start, end] = rangeOf(into);
    const gap = text.slice(0, end).endsWith('\n') ? '' : '\n';
    const map = createValue(document, value) as YAMLMap;
    return {
      start: end,
      end,
      text: `${gap}${renderNode(yaml, map, { indent: ' '.repeat(columnOf(text, start)) })}`,
    };
  };
  const presentation = pairIn(place, entry, 'presentation')?.value;
  if (Object.keys(seeds).length === 0) return [insert(entry, { signature })];
  if (presentation === undefined) return [insert(entry, { signature, presentation: seeds })];
  if (!yaml.isMap(presentation) || presentation.flow === true) return undefined;
  const open = Object.fromEntries(Object.entries(seeds).filter(([key]) => !presentation.has(key)));
  const added = Object.keys(open).length === 0 ? [] : [insert(presentation, open)];
  // Of two insertions in one place, the later one comes to stand before the other.
  return [insert(entry, { signature }), ...added];
}

/** New entries go to the end of the list, or into a list that was empty. */
function additionSplice(place: Place, nodes: unknown, added: readonly NodeEdit[]): Splice | undefined {
  const { yaml, text, document } = place;
  const fresh = new yaml.YAMLSeq();
  for (const edit of added) fresh.items.push(createValue(document, newEntry(edit)));
  if (yaml.isSeq(nodes) && nodes.items.length > 0) {
    const [start, end] = rangeOf(nodes);
    if (nodes.flow === true) return undefined;
    const gap = text.slice(0, end).endsWith('\n') ? '' : '\n';
    return {
      start: end,
      end,
      text: `${gap}${renderNode(yaml, fresh, { indent: ' '.repeat(columnOf(text, start)) })}`,
    };
  }
  const pair = pairIn(place, document.contents, 'nodes');
  if (pair === undefined) {
    const gap = text === '' || text.endsWith('\n') ? '' : '\n';
    return {
      start: text.length,
      end: text.length,
      text: `${gap}nodes:\n${renderNode(yaml, fresh, { indent: '  ' })}`,
    };
  }
  const [keyStart, keyEnd] = rangeOf(pair.key as Scalar);
  const valueEnd = yaml.isNode(pair.value) ? rangeOf(pair.value)[1] : keyEnd;
  const line = text.slice(keyStart, text.indexOf('\n', valueEnd) + 1 || text.length);
  if (!/^\S+\s*:\s*(?:\[\s*\]|~|null)?\s*$/.test(line)) return undefined;
  return {
    start: keyStart,
    end: keyStart + line.trimEnd().length,
    text: `nodes:\n${renderNode(yaml, fresh, { indent: '  ' }).trimEnd()}`,
  };
}

function pairIn({ yaml }: Place, map: unknown, name: string): Pair | undefined {
  if (!yaml.isMap(map)) return undefined;
  return map.items.find(({ key }) => yaml.isScalar(key) && key.value === name);
}

function renderNode(
  yaml: Yaml,
  node: YAMLMap | YAMLSeq,
  { indent, step = 2 }: { indent: string; step?: number },
): string {
  const document = new yaml.Document();
  document.contents = node as Node as never;
  const options = { lineWidth: 0, flowCollectionPadding: false, indent: step >= 1 && step <= 8 ? step : 2 };
  const lines = document.toString(options).split('\n');
  return lines.map((line) => (line === '' ? line : indent + line)).join('\n');
}

function rangeOf(node: Node): [start: number, end: number] {
  const [start, end] = node.range ?? [0, 0];
  return [start, end];
}

function columnOf(text: string, offset: number): number {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1);
}

/** The new text ends in a line break exactly when the old one did. */
function matchEnd(old: string, fresh: string): string {
  const trimmed = fresh.replace(/\n+$/, '');
  return old.endsWith('\n') ? `${trimmed}\n` : trimmed;
}

function applySplices(text: string, splices: readonly Splice[]): string {
  const lineEnd = /\r?\n/.exec(text)?.[0] ?? '\n';
  let result = text;
  for (const { start, end, text: fresh } of splices.toSorted((a, b) => b.start - a.start)) {
    const lines = lineEnd === '\n' ? fresh : fresh.replaceAll('\n', lineEnd);
    result = result.slice(0, start) + lines + result.slice(end);
  }
  return result;
}
