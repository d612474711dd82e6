// Why a file could not be loaded, with the place. The engine tells it in three ways: at the head of the stack (TypeScript,
// CommonJS, a name that is not exported), in a frame (a throw), or not at all (a mistake of syntax in an ES module). The last
// is found by parsing the file once more. A place that nobody tells is left out, never guessed.

import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type ThrownFailure, thrownFailure } from './thrown.ts';

const TAB_WIDTH = 4;

/** `line` and `column` count from 1; a column counts UTF-16 units. */
interface Place {
  file: string;
  line?: number;
  column?: number;
}

export interface LoadAttempt {
  /** The path of the file that was asked for. */
  file: string;
  /** The URLs of all files read for it, in order. */
  loadedUrls: ReadonlySet<string>;
}

/** For what the import of the file threw. The message begins with the place; `details` hold it. */
export function importFailure(error: unknown, { file, loadedUrls }: LoadAttempt): ThrownFailure {
  return failureAt(error, placeOf(error, [...loadedUrls].map(pathOf)) ?? { file });
}

/** For a file that waits, while it loads, for what can never happen. */
export function stalledFailure(file: string): ThrownFailure {
  return failureAt('its top-level await never settles', { file });
}

/** For a file whose exports are no usable node. */
export function exportFailure(error: unknown, file: string): ThrownFailure {
  return failureAt(error, { file });
}

function failureAt(error: unknown, place: Place): ThrownFailure {
  const { details = { ...place }, ...failure } = thrownFailure(error);
  const { file, line, column } = place;
  const where = [file, line, column].filter((part) => part !== undefined).join(':');
  const told = failure.message.startsWith(`${file}: `) ? failure.message : `${where}: ${failure.message}`;
  return { ...failure, message: `Cannot load the node: ${told}`, details };
}

function placeOf(error: unknown, loadedFiles: readonly string[]): Place | undefined {
  if (!(error instanceof Error) || typeof error.stack !== 'string') return undefined;
  const { stack } = error;
  return (
    headPlace(stack) ?? jsonPlace(error) ?? framePlace(stack, loadedFiles) ?? parsedPlace(error, loadedFiles)
  );
}

/** `FILE:LINE`, some lines of source, and carets under what is wrong. */
function headPlace(stack: string): Place | undefined {
  const [head = '', ...rest] = stack.split('\n');
  const [, file, digits] = /^(file:\/\/\/.+|\/.+):(\d+)$/.exec(head) ?? [];
  if (file === undefined) return undefined;
  const place = { file: pathOf(file), line: Number(digits) };
  const caretsAt = rest.findIndex((text) => /^[ \t]*\^+[ \t]*$/.test(text));
  const column = columnOf(place, rest[caretsAt - 1], rest[caretsAt]);
  return column === undefined ? place : { ...place, column };
}

/** Undefined unless the shown line is the file's own, tabs apart, and each character of it is as wide as any other. */
function columnOf(place: Place & { line: number }, shown = '', carets = ''): number | undefined {
  const own = lineOf(place);
  if (own === undefined || !/^[\t\x20-\x7e]*$/.test(own)) return undefined;
  const width = carets.indexOf('^');
  if (own === shown.trimEnd() || own === shown) return width + 1;
  const spread = spreadTabs(own);
  return spread.text.trimEnd() === shown.trimEnd() ? indexAt(spread.widths, width) : undefined;
}

function indexAt(widths: readonly number[], width: number): number | undefined {
  const index = widths.indexOf(width);
  return index === -1 ? undefined : index + 1;
}

/** As the parser of TypeScript shows a line: tabs are blanks to the next multiple of four. With the width before each character. */
function spreadTabs(line: string): { text: string; widths: number[] } {
  let text = '';
  const widths = [...line].map((character) => {
    const width = text.length;
    text += character === '\t' ? ' '.repeat(TAB_WIDTH - (width % TAB_WIDTH)) : character;
    return width;
  });
  return { text, widths };
}

function lineOf({ file, line }: Place & { line: number }): string | undefined {
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/)[line - 1];
  } catch {
    // Gone since, or a name that is no file.
    return undefined;
  }
}

function jsonPlace({ message }: Error): Place | undefined {
  const [, file, line, column] = /^(\/.+?): .* in JSON at .*\(line (\d+) column (\d+)\)$/.exec(message) ?? [];
  return file === undefined ? undefined : { file, line: Number(line), column: Number(column) };
}

/** The innermost frame that lies in a file of the node. */
function framePlace(stack: string, loadedFiles: readonly string[]): Place | undefined {
  for (const frame of stack.matchAll(/^ {4}at (?:async )?(?:.*\()?(\S.*?):(\d+):(\d+)\)?$/gm)) {
    const file = pathOf(frame[1] ?? '');
    if (loadedFiles.includes(file)) return { file, line: Number(frame[2]), column: Number(frame[3]) };
  }
  return undefined;
}

/** An ES module is compiled as soon as it is read, so the last one read is the one with the mistake. */
function parsedPlace(error: Error, loadedFiles: readonly string[]): Place | undefined {
  const file = loadedFiles.at(-1);
  if (!(error instanceof SyntaxError) || file === undefined) return undefined;
  try {
    parse(readFileSync(file, 'utf8'), file);
  } catch (mistake) {
    const found = mistake instanceof SyntaxError ? headPlace(mistake.stack ?? '') : undefined;
    return found ?? { file };
  }
  return { file };
}

/** JavaScript is TypeScript to this parser. That it calls itself experimental is of no use to who wrote the node. */
function parse(source: string, file: string): void {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    stripTypeScriptTypes(source, { sourceUrl: file });
  } finally {
    process.emitWarning = emitWarning;
  }
}

function pathOf(file: string): string {
  try {
    return file.startsWith('file:') ? fileURLToPath(file) : file;
  } catch {
    // A URL that names no local file.
    return file;
  }
}
