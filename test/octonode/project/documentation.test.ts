// docs/projects.md: its files are written, its commands are run through the binary, and what they print is what it says.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { checkWorkflow } from '../../../src/octonode/flow/flow.ts';
import { parseProject } from '../../../src/octonode/project/project.ts';

const BURROW = process.env.BURROW_BINARY ?? new URL('../../../dist/burrow', import.meta.url).pathname;
const page = readFileSync(new URL('../../../docs/projects.md', import.meta.url), 'utf8');
const directory = mkdtempSync(join(tmpdir(), 'octonode-page-'));
afterAll(() => rmSync(directory, { recursive: true }));

const blocks = [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map(([, language = '', text = '']) => ({
  language,
  text,
}));

describe('docs/projects.md', () => {
  it('shows commands that print what it says', () => {
    let commands = 0;
    for (const { language, text } of blocks) {
      if (language === 'js') put(/^\/\/ (\S+)/.exec(text)?.[1] ?? '', text);
      if (language === 'yaml' && text.includes('workflows:')) put('.octonode', text);
      if (language !== 'console') continue;
      for (const [, command = '', printed = ''] of text.matchAll(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/gm)) {
        commands += 1;
        expect(run(command)).toBe(printed);
      }
    }
    expect(commands).toBe(5);
  });

  it.each(blocks.filter(({ language }) => language === 'yaml').map(({ text }) => [text]))(
    'shows a valid project:\n%s',
    async (text) => {
      const reading = await parseProject(text);

      expect(reading).toMatchObject({ status: 'ok' });
      if (reading.status === 'invalid') return;
      const project = { ...reading.parsed, path: join(directory, '.octonode'), directory };
      for (const index of (project.content.workflows ?? []).keys())
        expect(checkWorkflow(project, index)).toMatchObject({ status: 'ok' });
    },
  );
});

function put(name: string, text: string): void {
  mkdirSync(dirname(join(directory, name)), { recursive: true });
  writeFileSync(join(directory, name), text);
}

function run(command: string): string {
  const env = { PATH: `${dirname(BURROW)}:${process.env.PATH}` };
  const { stdout } = spawnSync('sh', ['-c', command], { cwd: directory, encoding: 'utf8', env });
  return stdout.replaceAll(directory, '…');
}
