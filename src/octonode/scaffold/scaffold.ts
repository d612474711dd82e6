// The files of a new node with its test, for each language that can be begun: text only, nothing is written here.

import { PYTHON_NODE, PYTHON_TEST } from './python.ts';
import { SHELL_NODE, SHELL_TEST } from './shell.ts';
import { TYPESCRIPT_NODE, TYPESCRIPT_TEST } from './typescript.ts';

export const SCAFFOLD_LANGUAGES = ['typescript', 'python', 'sh'] as const;
type ScaffoldLanguage = (typeof SCAFFOLD_LANGUAGES)[number];

interface ScaffoldFile {
  name: string;
  text: string;
  isExecutable: boolean;
}

const ALIASES: Readonly<Record<string, ScaffoldLanguage>> = {
  ts: 'typescript',
  py: 'python',
  python3: 'python',
  shell: 'sh',
  bash: 'sh',
  posix: 'sh',
};

export function parseScaffoldLanguage(word: string): ScaffoldLanguage | undefined {
  const lower = word.toLowerCase();
  return (
    SCAFFOLD_LANGUAGES.find((language) => language === lower) ??
    (Object.hasOwn(ALIASES, lower) ? ALIASES[lower] : undefined)
  );
}

/** A node id that is also a good file name: letters, digits, `-` and `_`, beginning with a letter, at most 64. */
export function isScaffoldName(name: string): boolean {
  return /^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name);
}

/** The node, its test, and how to run both, for a name that `isScaffoldName` takes. */
export function scaffoldNode(
  language: ScaffoldLanguage,
  name: string,
): { files: ScaffoldFile[]; run: string; test: string } {
  const inputs = `--inputs '{"name":"Ada"}'`;
  const fill = (text: string): string => text.replaceAll('NODE_ID', name);
  switch (language) {
    case 'typescript':
      return {
        files: [
          { name: `${name}.ts`, text: fill(TYPESCRIPT_NODE), isExecutable: false },
          { name: `${name}.test.sh`, text: fill(TYPESCRIPT_TEST), isExecutable: true },
        ],
        run: `burrow node run ${name}.ts ${inputs}`,
        test: `sh ${name}.test.sh`,
      };
    case 'python':
      return {
        files: [
          { name: `${name}.py`, text: fill(PYTHON_NODE), isExecutable: true },
          { name: `test_${name}.py`, text: fill(PYTHON_TEST), isExecutable: true },
        ],
        run: `burrow node run ${name}.py ${inputs}`,
        test: `python3 test_${name}.py`,
      };
    case 'sh':
      return {
        files: [
          { name: `${name}.sh`, text: fill(SHELL_NODE), isExecutable: true },
          { name: `${name}.test.sh`, text: fill(SHELL_TEST), isExecutable: true },
        ],
        run: `burrow node run ${name}.sh ${inputs}`,
        test: `sh ${name}.test.sh`,
      };
  }
}
