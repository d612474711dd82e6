// `burrow node new`: a working node with its test, to begin from.

import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  isScaffoldName,
  parseScaffoldLanguage,
  SCAFFOLD_LANGUAGES,
  scaffoldNode,
} from '../octonode/scaffold/scaffold.ts';
import { makeDirectory } from '../support/make-directory.ts';
import { type Call, type Command, UsageError } from './command.ts';
import { EXIT } from './system.ts';

export const nodeNewCommand: Command = {
  meta: {
    name: 'new',
    description: 'Begin a node: a working one with its test, in typescript, python or sh',
  },
  args: {
    language: {
      type: 'positional',
      description: `One of ${SCAFFOLD_LANGUAGES.join(', ')}`,
      valueHint: 'LANG',
      choices: SCAFFOLD_LANGUAGES,
    },
    name: {
      type: 'positional',
      description: 'Id and file name of the node (default greet)',
      required: false,
    },
    dir: { type: 'string', valueHint: 'DIR', description: 'Where to write (default: the current directory)' },
  },
  examples: [
    { command: 'burrow node new typescript resize', does: 'write resize.ts and resize.test.sh' },
    {
      command: 'burrow node new python greet --dir nodes',
      does: 'write nodes/greet.py and nodes/test_greet.py',
    },
  ],
  run,
};

async function run({ positionals, flags, system }: Call): Promise<number> {
  const [word = '', name = 'greet'] = positionals;
  const language = parseScaffoldLanguage(word);
  if (language === undefined)
    throw new UsageError(`Language "${word}" is not known`, `One of: ${SCAFFOLD_LANGUAGES.join(', ')}`);
  if (!isScaffoldName(name))
    throw new UsageError(
      `Name "${name}" is not usable`,
      'Use letters, digits, - and _, beginning with a letter',
    );
  const directory = resolve(system.cwd, typeof flags.dir === 'string' ? flags.dir : '.');
  const scaffold = scaffoldNode(language, name);
  try {
    await makeDirectory(directory);
  } catch (error) {
    system.stderr.write(
      `burrow: Cannot make "${directory}": ${error instanceof Error ? error.message : error}\n`,
    );
    return EXIT.failed;
  }
  for (const file of scaffold.files) {
    const path = join(directory, file.name);
    try {
      // `wx`: nothing that exists is ever written over.
      writeFileSync(path, file.text, { flag: 'wx', mode: file.isExecutable ? 0o755 : 0o644 });
    } catch (error) {
      const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
      system.stderr.write(
        `burrow: Cannot write "${path}": ${reason === 'EEXIST' ? 'it exists already' : reason}\n`,
      );
      return EXIT.failed;
    }
    system.stdout.write(`${path}\n`);
  }
  system.stderr.write(`Run it:  ${scaffold.run}\nTest it: ${scaffold.test}\n`);
  return EXIT.done;
}
