// Arguments are bytes, and Node.js hands them on as text: what is not UTF-8 arrives as U+FFFD, which is another argument. This
// file finds those, from the bytes that the kernel keeps, and only where a U+FFFD gives a reason to look.

import { readFileSync } from 'node:fs';

const REPLACEMENT = '\ufffd';

/** Where the kernel has the arguments of this process, each with a zero byte behind it. */
const OWN_ARGUMENTS = '/proc/self/cmdline';

/** The first of `args`, the last arguments of this process, that is not what was typed. A U+FFFD that was typed is one. */
export function findChangedArgument(
  args: readonly string[],
  readRaw: () => Buffer = () => readFileSync(OWN_ARGUMENTS),
): string | undefined {
  if (!args.some((arg) => arg.includes(REPLACEMENT))) return undefined;
  const typed = splitArguments(readRaw, args.length);
  return args.find(
    (arg, index) => arg.includes(REPLACEMENT) && typed[index]?.equals(Buffer.from(arg)) !== true,
  );
}

/** Two lines for a person. */
export function explainChangedArgument(arg: string): string {
  return (
    `burrow: Argument "${arg}" is not UTF-8 text and would arrive as another one\n` +
    `burrow: Let a shell string make the bytes, such as: burrow exec -c 'cat "$(printf "a\\377b")"'\n`
  );
}

/** The last `count`; none where the kernel does not tell: then nothing shows that a U+FFFD was typed. */
function splitArguments(readRaw: () => Buffer, count: number): Buffer[] {
  let raw: Buffer;
  try {
    raw = readRaw();
  } catch {
    return [];
  }
  const parts: Buffer[] = [];
  for (let start = 0; start < raw.length; ) {
    const zero = raw.indexOf(0, start);
    const end = zero === -1 ? raw.length : zero;
    parts.push(raw.subarray(start, end));
    start = end + 1;
  }
  return parts.slice(-count);
}
