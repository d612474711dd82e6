// What was found against what is recorded, node by node by id: the edits that bring the record up to date, and the report.
// A source that failed leaves its nodes as they are recorded; a node that no source holds any more is marked, never deleted.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { commandOf, type JsonObject, type NodeEdit, type NodeEntry } from '../project/project.ts';
import type { Descriptions, FailedSource, FoundNode } from './describe-sources.ts';
import { isProgramName } from './file-command.ts';
import { type Change, canonicalText, changesBetween, withChecksum } from './signature.ts';

export interface ScanFailure {
  /** The source, or the id of an entry that no source describes. */
  source: string;
  id: string | undefined;
  code: string;
  message: string;
  /** At most 4 KiB. */
  stderrTail: string;
}

export interface ScanReport {
  added: { id: string; source: string }[];
  changed: { id: string; changes: Change[] }[];
  unchanged: string[];
  orphaned: { id: string; isNew: boolean }[];
  failed: ScanFailure[];
}

export interface Comparison {
  report: ScanReport;
  edits: NodeEdit[];
}

export function compare(
  directory: string,
  entries: readonly NodeEntry[],
  { found, failed }: Descriptions,
): Comparison {
  const report: ScanReport = {
    added: [],
    changed: [],
    unchanged: [],
    orphaned: [],
    failed: failed.map(asFailure),
  };
  const edits: NodeEdit[] = [];
  const recorded = new Map(entries.map((entry) => [entry.id, entry]));
  const nodes = withoutDuplicates(found, recorded, report);
  const held = new Set(
    failed.filter(({ source }) => !isGone(directory, source)).map(({ source }) => keyOf(source)),
  );
  const seen = new Set<string>();
  for (const entry of entries) {
    const node = nodes.get(entry.id);
    if (seen.has(entry.id)) {
      const message = `Node "${entry.id}" stands twice in the project`;
      report.failed.push({
        source: entry.id,
        id: entry.id,
        code: 'VALIDATION_ERROR',
        message,
        stderrTail: '',
      });
      continue;
    }
    seen.add(entry.id);
    if (node !== undefined) compareEntry(entry, node, { report, edits });
    else if (!held.has(keyOf({ command: commandOf(entry.signature), cwd: entry.signature?.cwd })))
      orphan(entry, { report, edits });
  }
  for (const { id, source, signature, seeds } of nodes.values()) {
    if (recorded.has(id)) continue;
    report.added.push({ id, source: source.name });
    edits.push({ id, signature, seeds });
  }
  return { report, edits };
}

/** Of several programs with one id the recorded one stays, else the first; each other one is a failure of its own. */
function withoutDuplicates(
  found: readonly FoundNode[],
  recorded: ReadonlyMap<string, NodeEntry>,
  report: ScanReport,
): Map<string, FoundNode> {
  const isRecorded = ({ id, source }: FoundNode): boolean => {
    const signature = recorded.get(id)?.signature;
    return keyOf({ command: commandOf(signature), cwd: signature?.cwd }) === keyOf(source);
  };
  const nodes = new Map<string, FoundNode>();
  for (const node of [...found.filter(isRecorded), ...found.filter((node) => !isRecorded(node))]) {
    const first = nodes.get(node.id);
    if (first === undefined) nodes.set(node.id, node);
    else {
      const message = `Id "${node.id}" is taken by ${first.source.name}`;
      report.failed.push({
        source: node.source.name,
        id: node.id,
        code: 'VALIDATION_ERROR',
        message,
        stderrTail: '',
      });
    }
  }
  // In the order of the sources, whatever was recorded.
  return new Map(found.filter((node) => nodes.get(node.id) === node).map((node) => [node.id, node]));
}

function compareEntry(entry: NodeEntry, node: FoundNode, { report, edits }: Comparison): void {
  const { id, signature, seeds } = node;
  if (entry.signature === undefined || entry.signature === null) {
    report.added.push({ id, source: node.source.name });
    edits.push({ id, signature, seeds });
    return;
  }
  const before = asJson(entry.signature);
  if (canonicalText(before) === canonicalText(signature)) return void report.unchanged.push(id);
  report.changed.push({ id, changes: changesBetween(before, signature) });
  edits.push({ id, signature, seeds: {} });
}

function orphan({ id, signature }: NodeEntry, { report, edits }: Comparison): void {
  if (signature === undefined || signature === null) {
    const message = `Node "${id}" is in the project, but no source describes it`;
    report.failed.push({ source: id, id, code: 'VALIDATION_ERROR', message, stderrTail: '' });
    return;
  }
  const isNew = signature.orphaned !== true;
  report.orphaned.push({ id, isNew });
  if (isNew) edits.push({ id, signature: withChecksum({ ...asJson(signature), orphaned: true }), seeds: {} });
}

/** Its program is not there any more: what it held has vanished, and did not merely fail. */
function isGone(directory: string, { command, cwd = '.' }: FailedSource['source']): boolean {
  return command.some((word) => isProgramName(word) && !existsSync(resolve(directory, cwd, word)));
}

function keyOf({ command, cwd }: { command: unknown; cwd?: string | undefined }): string {
  return JSON.stringify([command ?? null, cwd ?? '.']);
}

function asJson(signature: object): JsonObject {
  // Read from YAML, which has dates and such only when they are asked for.
  return JSON.parse(JSON.stringify(signature));
}

function asFailure({ source, id, code, message, stderrTail }: FailedSource): ScanFailure {
  return { source: source.name, id, code, message, stderrTail };
}
