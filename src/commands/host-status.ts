// `burrow host status`: whether the service runs, which version, and how it stands with its controller.

import type { Call, Command } from './command.ts';
import { askService, controllerState, type ServiceAnswer } from './host-health.ts';
import { hostPaths, UNIT } from './host-paths.ts';
import { createSystemctl, isBooted, readUnit, type UnitState } from './host-systemctl.ts';
import { EXIT } from './system.ts';

export const hostStatusCommand: Command = {
  meta: {
    name: 'status',
    description: 'Print whether the service runs and how it stands with its controller',
  },
  args: { json: { type: 'boolean', description: 'Print one JSON object' } },
  examples: [
    {
      command: 'burrow host status',
      does: 'print unit, version, controller and journal; exit 1 unless it serves',
    },
    { command: 'burrow host status --json', does: 'print {"unit","hello","health"}' },
  ],
  run: status,
};

async function status({ flags, system }: Call): Promise<number> {
  const unit = isBooted() ? await readUnit(createSystemctl(system)) : undefined;
  const service = await askService(hostPaths(undefined).socket, system);
  if (flags['json'] === true) {
    const { hello, health } = service.status === 'ok' ? service : { hello: null, health: null };
    system.stdout.write(`${JSON.stringify({ unit: unit ?? null, hello, health })}\n`);
  } else {
    system.stdout.write(`${describe(unit, service).join('\n')}\n`);
  }
  return service.status === 'ok' ? EXIT.done : EXIT.failed;
}

function describe(unit: UnitState | undefined, service: ServiceAnswer): string[] {
  const lines = [`unit        ${unit === undefined ? 'systemd does not run here' : unitText(unit)}`];
  if (service.status === 'silent') return [...lines, `service     does not answer: ${service.reason}`];
  const { hello, health } = service;
  lines.push(`service     ${String(hello['version'])}, ${String(health['status'])}`);
  const controller = controllerState(health);
  const text = controller === undefined ? 'none configured' : `${controller.state} (${controller.url})`;
  lines.push(`controller  ${text}`);
  if (controller?.lastError !== undefined) lines.push(`            last error: ${controller.lastError}`);
  const running = Array.isArray(health['activeOperations']) ? health['activeOperations'].length : 0;
  lines.push(`operations  ${running} running`);
  return lines;
}

function unitText({ active, sub, unitFile, load }: UnitState): string {
  return load === 'not-found' ? `${UNIT} is not installed` : `${active} (${sub}), ${unitFile}`;
}
