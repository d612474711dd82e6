// What `--help` prints: citty's usage text, then the examples.

import { type CommandDef, renderUsage } from 'citty';
import type { Command } from './command.ts';

export async function renderHelp(command: Command, path: readonly Command[]): Promise<string> {
  const parent = { meta: { name: path.map((part) => part.meta.name).join(' ') } };
  // Our definitions are citty's with more fields; its own type wants `run` in another shape.
  const usage = await renderUsage(
    definition(command),
    path.length === 0 ? undefined : definition(parent as Command),
  );
  const lines = [usage.trimEnd()];
  if (command.usage !== undefined) lines.push('', 'FORM', '', `  ${command.usage}`);
  if (command.examples !== undefined) {
    lines.push('', 'EXAMPLES', '');
    for (const example of command.examples) lines.push(`  ${example.command}`, `      ${example.does}`);
  }
  return `${lines.join('\n')}\n`;
}

function definition(command: Command): CommandDef {
  return command as unknown as CommandDef;
}
