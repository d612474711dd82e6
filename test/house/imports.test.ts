import { describe, expect, it } from 'vitest';
import { readSources } from './source.ts';

/** Which folders a folder may import, besides itself. ARCHITECTURE.md explains each. */
const MAY_IMPORT: Record<string, string[]> = {
  support: [],
  protocol: ['support'],
  process: ['protocol', 'support'],
  filesystem: ['protocol', 'support'],
  telemetry: ['protocol', 'support'],
  gateway: ['process', 'filesystem', 'telemetry', 'protocol', 'support'],
  transport: ['gateway', 'protocol', 'support'],
  client: ['gateway', 'process', 'protocol', 'support'],
  octonode: ['process', 'support'],
  controller: ['gateway', 'protocol', 'support', 'transport'],
  commands: [
    'client',
    'controller',
    'filesystem',
    'gateway',
    'octonode',
    'process',
    'protocol',
    'support',
    'telemetry',
    'transport',
  ],
};

/** The files through which other folders enter; a folder that is not listed has no inside. */
const DOORS: Record<string, RegExp> = {
  'src/process/': /\/(process|launcher|environment|kill-tree|process-groups)\.ts$/,
  'src/filesystem/': /\/filesystem\.ts$/,
  'src/gateway/journal/': /\/journal\.ts$/,
  'src/telemetry/': /\/telemetry\.ts$/,
  'src/octonode/sdk/': /\/sdk\.ts$/,
  'src/octonode/project/': /\/(project|find-project)\.ts$/,
  'src/octonode/scan/': /\/(scan|file-command)\.ts$/,
  'src/octonode/flow/': /\/flow\.ts$/,
};

const sources = readSources('src/**/*.ts');

describe('imports', () => {
  it('finds the source tree', () => {
    expect(sources.length).toBeGreaterThan(30);
    expect(sources.flatMap((file) => file.imports).length).toBeGreaterThan(60);
  });

  it.each(sources.map((file) => [file.path, file] as const))(
    '%s enters only the folders it may',
    (_path, file) => {
      const folder = folderOf(file.path);
      const strangers = file.imports.filter((target) => {
        const targetFolder = folderOf(target);
        if (targetFolder === folder || targetFolder === '') return false;
        return folder === ''
          ? !['commands', 'support'].includes(targetFolder)
          : !MAY_IMPORT[folder]?.includes(targetFolder);
      });
      expect(strangers).toEqual([]);
    },
  );

  it.each(Object.entries(DOORS))('%s is entered by its doors alone', (room, door) => {
    const intruders = sources
      .filter((file) => !file.path.startsWith(room))
      .flatMap((file) =>
        file.imports
          .filter((target) => target.startsWith(room) && !door.test(target))
          .map((target) => `${file.path} → ${target}`),
      );
    expect(intruders).toEqual([]);
  });

  it('runs in no circle', () => {
    expect(findCircle(new Map(sources.map((file) => [file.path, file.imports])))).toBeUndefined();
  });
});

/** `gateway` for `src/gateway/journal/x.ts`, empty for `src/main.ts`. */
function folderOf(path: string): string {
  return /^src\/([^/]+)\//.exec(path)?.[1] ?? '';
}

function findCircle(graph: Map<string, string[]>): string | undefined {
  const done = new Set<string>();
  const visit = (file: string, trail: string[]): string | undefined => {
    if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file].join(' → ');
    if (done.has(file)) return undefined;
    for (const target of graph.get(file) ?? []) {
      const circle = visit(target, [...trail, file]);
      if (circle !== undefined) return circle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of graph.keys()) {
    const circle = visit(file, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}
