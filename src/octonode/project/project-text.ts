// The text of a project file as a value, with the place of every part. YAML by the document model of the `yaml` package
// (loaded on first use), of which JSON is a subset. What is wrong is told with line and column, never thrown.

import * as v from 'valibot';
import type { Document, LineCounter } from 'yaml';
import { issueWords } from '../../support/issue-words.ts';
import { type ProjectContent, ProjectSchema } from './project-schema.ts';

/** Problems beyond this many are not listed. */
const MAX_PROBLEMS = 50;

export type ProjectPath = readonly (string | number)[];

export interface ProjectProblem {
  /** From 1. */
  line: number;
  column: number;
  message: string;
}

export interface ParsedProject {
  text: string;
  content: ProjectContent;
  document: Document;
  /** Where a part stands; the nearest part around it when it is not there. */
  locate(path: ProjectPath): { line: number; column: number };
}

export type ProjectReading =
  | { status: 'ok'; parsed: ParsedProject }
  | { status: 'invalid'; problems: ProjectProblem[] };

export async function parseProject(text: string): Promise<ProjectReading> {
  const { parseDocument, LineCounter } = await import('yaml');
  const lines = new LineCounter();
  const document: Document = parseDocument(text, { lineCounter: lines, merge: true, prettyErrors: false });
  const broken = document.errors.map((error) => ({
    ...placeOf(lines, error.pos[0]),
    message: error.message.split('\n')[0] ?? error.code,
  }));
  if (broken.length > 0) return { status: 'invalid', problems: broken.slice(0, MAX_PROBLEMS) };
  const locate = (path: ProjectPath): { line: number; column: number } => locateIn(document, lines, path);
  const value = toValue(document);
  if (value.status === 'invalid')
    return { status: 'invalid', problems: [{ ...locate([]), message: value.reason }] };
  const checked = v.safeParse(ProjectSchema, value.value);
  if (checked.success) {
    return { status: 'ok', parsed: { text, content: checked.output, document, locate } };
  }
  const problems = checked.issues.flatMap((issue) => problemsOf(issue, locate));
  problems.sort((a, b) => a.line - b.line || a.column - b.column);
  return { status: 'invalid', problems: problems.slice(0, MAX_PROBLEMS) };
}

type Value = { status: 'ok'; value: unknown } | { status: 'invalid'; reason: string };

function toValue(document: Document): Value {
  let value: unknown;
  try {
    value = document.toJS();
  } catch (error) {
    // Aliases that multiply without end, or one that points nowhere.
    return { status: 'invalid', reason: error instanceof Error ? error.message : String(error) };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { status: 'invalid', reason: 'Expected a mapping that begins with "apiVersion"' };
  // Keys that begin with `x-` are the person's own, such as anchors that are used elsewhere.
  return {
    status: 'ok',
    value: Object.fromEntries(Object.entries(value).filter(([key]) => !key.startsWith('x-'))),
  };
}

function problemsOf(issue: v.GenericIssue, locate: ParsedProject['locate']): ProjectProblem[] {
  const path = (issue.path ?? []).map(({ key }) => key as string | number);
  const name = path.join('.');
  const isUnknownKey = issue.type === 'strict_object' && issue.expected === 'never';
  const isMissing = issue.input === undefined;
  if (isUnknownKey) return [{ ...locate(path), message: `Key "${name}" is not known` }];
  if (isMissing) return [{ ...locate(path), message: `Key "${name}" is missing` }];
  return [{ ...locate(path), message: `"${name}": ${issueWords(issue)}` }];
}

function locateIn(
  document: Document,
  lines: LineCounter,
  path: ProjectPath,
): { line: number; column: number } {
  let offset = 0;
  for (let length = path.length; length >= 0; length -= 1) {
    const found = offsetOf(document, path.slice(0, length));
    if (found === undefined) continue;
    offset = found;
    break;
  }
  return placeOf(lines, offset);
}

/** The start of the key of a mapping's part, else of the part itself. */
function offsetOf(document: Document, path: ProjectPath): number | undefined {
  if (path.length === 0) return rangeStart(document.contents);
  const parent: unknown = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  const last = path.at(-1);
  if (typeof parent !== 'object' || parent === null || !('items' in parent) || !Array.isArray(parent.items))
    return undefined;
  if (typeof last === 'number') return rangeStart(parent.items[last]);
  const pair: unknown = parent.items.find((item) => keyOf(item) === last);
  return typeof pair === 'object' && pair !== null && 'key' in pair ? rangeStart(pair.key) : undefined;
}

function keyOf(item: unknown): unknown {
  if (typeof item !== 'object' || item === null || !('key' in item)) return undefined;
  const { key } = item;
  return typeof key === 'object' && key !== null && 'value' in key ? key.value : key;
}

function rangeStart(node: unknown): number | undefined {
  if (typeof node !== 'object' || node === null || !('range' in node) || !Array.isArray(node.range))
    return undefined;
  const start: unknown = node.range[0];
  return typeof start === 'number' ? start : undefined;
}

function placeOf(lines: LineCounter, offset: number): { line: number; column: number } {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}
