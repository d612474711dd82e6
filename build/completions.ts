// The completion scripts for the package: what `burrow completion` prints.

import { loadCommandTree } from '../src/commands/command-tree.ts';
import { COMPLETION_SCRIPTS } from '../src/commands/completion-scripts.ts';
import { constants } from './bundle.ts';

/** The script of each shell by its name. */
export async function completions(): Promise<Map<string, string>> {
  // What the bundler puts in as constants.
  for (const [name, json] of Object.entries(constants())) Reflect.set(globalThis, name, JSON.parse(json));
  const { burrow } = await import('../src/commands/cli.ts');
  const tree = await loadCommandTree(burrow);
  return new Map(Object.entries(COMPLETION_SCRIPTS).map(([shell, script]) => [shell, script(tree)]));
}
