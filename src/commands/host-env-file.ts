// The environment file of the service as systemd reads it (systemd.exec(5), EnvironmentFile=). A value arrives exactly as it
// stands or its line is refused with a reason: systemd itself drops a backslash, a blank at an end or a whole line without a
// word. Values are never quoted in a problem; a length and a digest let two copies be compared.

import { loadCrypto } from '../support/builtins.ts';

export interface EnvFile {
  values: ReadonlyMap<string, string>;
  problems: readonly EnvProblem[];
}

export interface EnvProblem {
  /** Starts at 1. */
  line: number;
  message: string;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const SINGLE_QUOTED = /^'([^']*)'$/;
const DOUBLE_QUOTED = /^"((?:[^"\\]|\\[\s\S])*)"$/;
/** What systemd reads a backslash before, in double quotes; before anything else the backslash stays. */
const ESCAPABLE = /\\(["\\`$])/g;

export function parseEnvFile(text: string): EnvFile {
  const values = new Map<string, string>();
  const problems: EnvProblem[] = [];
  for (const [index, line] of text.split(/\r\n|\n/).entries()) {
    const read = readLine(line);
    if (read.status === 'value') values.set(read.name, read.value);
    if (read.status === 'refused') problems.push({ line: index + 1, message: read.reason });
  }
  return { values, problems };
}

/** `text` with the value of `name` replaced, put in the place of its commented example, or added; undefined comments it out. */
export function setEnvValue(text: string, name: string, value: string | undefined): string {
  const lines = text.split(/\r\n|\n/);
  const isSetting = (line: string): boolean => line.trimStart().startsWith(`${name}=`);
  const isExample = (line: string): boolean => line.startsWith(`#${name}=`);
  const assignment = value === undefined ? `#${name}=` : `${name}=${quoteEnvValue(value)}`;
  // The last one counts; earlier ones would only mislead a reader.
  const at = lines.findIndex(isSetting) === -1 ? lines.findIndex(isExample) : lines.findIndex(isSetting);
  if (at === -1) return value === undefined ? text : `${text.replace(/\n*$/, '\n')}${assignment}\n`;
  if (value === undefined && !isSetting(lines[at] ?? '')) return text;
  return lines
    .map((line, index) => (index === at ? assignment : line))
    .filter((line, index) => index === at || !isSetting(line))
    .join('\n');
}

/** As short as it can be written. Throws RangeError for a line break or another control character. */
export function quoteEnvValue(value: string): string {
  if (/[\u0000-\u0008\u000a-\u001f\u007f]/.test(value))
    throw new RangeError(`Value has a line break or another control character (${describeValue(value)})`);
  if (!/[\\]|^\s|\s$|^["']/.test(value)) return value;
  if (!value.includes("'")) return `'${value}'`;
  return `"${value.replace(/["\\`$]/g, '\\$&')}"`;
}

/** `31 characters, sha256 0a1b2c3d4e5f…`: enough to compare two copies, nothing of the value. */
export function describeValue(value: string): string {
  return `${value.length} characters, sha256 ${loadCrypto().hash('sha256', value).slice(0, 12)}…`;
}

type Line =
  | { status: 'none' }
  | { status: 'value'; name: string; value: string }
  | { status: 'refused'; reason: string };

function readLine(line: string): Line {
  if (/^\s*([#;].*)?$/.test(line)) return readComment(line);
  const equals = line.indexOf('=');
  if (equals === -1) return refuse('Line is neither NAME=VALUE nor a comment');
  const name = line.slice(0, equals).trimStart();
  if (!NAME.test(name)) {
    return refuse(
      `Name ${JSON.stringify(name)} is not letters, digits and _: write NAME=VALUE, without "export"`,
    );
  }
  const raw = line.slice(equals + 1);
  if (/[\u0000-\u0008\u000b-\u001f\u007f]/.test(raw)) {
    return refuse(`Value of ${name} has a control character (${describeValue(raw)})`);
  }
  if (raw.includes('\ufffd')) return refuse(`Value of ${name} is not UTF-8 text`);
  return readValue(name, raw);
}

/** A backslash at its end makes systemd take the next line for a part of the comment. */
function readComment(line: string): Line {
  return line.endsWith('\\')
    ? refuse('Comment ends with a backslash, which hides the next line')
    : { status: 'none' };
}

function readValue(name: string, raw: string): Line {
  const of = `Value of ${name} (${describeValue(raw)})`;
  const single = SINGLE_QUOTED.exec(raw.trim());
  if (single !== null) return { status: 'value', name, value: single[1] ?? '' };
  const double = DOUBLE_QUOTED.exec(raw.trim());
  if (double !== null) return { status: 'value', name, value: (double[1] ?? '').replace(ESCAPABLE, '$1') };
  if (/^\s*["']/.test(raw)) {
    return refuse(`${of} begins with a quote and does not end with it: put the whole value in single quotes`);
  }
  if (raw.includes('\\'))
    return refuse(`${of} holds a backslash, which would be lost: put it in single quotes`);
  if (raw.trim() !== raw)
    return refuse(`${of} begins or ends with a blank, which would be lost: put it in single quotes`);
  return { status: 'value', name, value: raw };
}

function refuse(reason: string): Line {
  return { status: 'refused', reason };
}
