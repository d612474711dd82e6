// A controller in this process on a free port, with an operator beside it, for one test.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type CallAnswer, createGatewayClient, type GatewayClient } from '../../src/client/client.ts';
import { inProcess } from '../../src/client/in-process.ts';
import { type Controller, startController } from '../../src/controller/controller.ts';
import { type Clock, systemClock } from '../../src/support/clock.ts';
import { dial, type FakeGateway, type Keys, pairingResponse, proofResponse } from './fake-gateway.ts';

export { until } from '../until.ts';

export interface World {
  controller: Controller;
  stateDirectory: string;
  log: string[];
  operator: GatewayClient;
  call(method: string, params?: Record<string, unknown>): Promise<CallAnswer>;
  /** An operator whose requests go to `target`. */
  to(target: string): GatewayClient;
  dial(): Promise<FakeGateway>;
  /** A gateway that is enrolled and connected. */
  enrolled(gatewayId: string): Promise<FakeGateway>;
  /** A gateway that waits for approval. */
  waiting(gatewayId: string, keys?: Keys): Promise<FakeGateway>;
}

export interface WorldOptions {
  stateDirectory?: string;
  /** Default 0: any that is free. */
  port?: number;
  handshakeLimitMs?: number;
  clock?: Clock;
}

export function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'burrow-controller-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const stateDirectory = options.stateDirectory ?? temporaryDirectory();
  const log: string[] = [];
  const say = (level: string) => (text: string) => void log.push(`${level} ${text}`);
  const controller = await startController(
    {
      ...{ host: '127.0.0.1', port: options.port ?? 0, stateDirectory, certificate: undefined, names: [] },
      ...{ hostname: 'test-host', version: '1.2.3', handshakeLimitMs: options.handshakeLimitMs ?? 10_000 },
    },
    {
      clock: options.clock ?? systemClock,
      log: { error: say('error'), warn: say('warn'), info: say('info'), debug: say('debug') },
    },
  );
  onTestFinished(() => controller.close());
  const operator = createGatewayClient(inProcess(controller.operators));
  const call: World['call'] = (method, params) => operator.call(method, params);
  const dialIn = async (): Promise<FakeGateway> => {
    const gateway = await dial(controller.port);
    onTestFinished(() => gateway.close());
    return gateway;
  };
  return {
    controller,
    stateDirectory,
    log,
    operator,
    call,
    dial: dialIn,
    to: (target) => createGatewayClient(addressed(controller, target)),
    async enrolled(gatewayId) {
      const answer = await call('controller.enroll', { gatewayId });
      if (answer.status !== 'ok') throw new Error(JSON.stringify(answer));
      const gateway = await dialIn();
      gateway.send(await proofResponse(gateway, { gatewayId, secret: String(answer.result['token']) }));
      await gateway.type('auth.ok');
      return gateway;
    },
    async waiting(gatewayId, keys) {
      const gateway = await dialIn();
      gateway.send(await pairingResponse(gateway, keys === undefined ? { gatewayId } : { gatewayId, keys }));
      await gateway.type('pairing.pending');
      return gateway;
    },
  };
}

function addressed(controller: Controller, target: string): ReturnType<typeof inProcess> {
  const open = inProcess(controller.operators);
  return (events) => {
    const channel = open(events);
    return {
      ...channel,
      send: (line) => channel.send(`{"target":${JSON.stringify(target)},${line.slice(1)}`),
    };
  };
}

// biome-ignore lint/suspicious/noExplicitAny: results are looked into by tests that say what they expect
export function resultOf(answer: CallAnswer): Record<string, any> {
  if (answer.status === 'ok') return answer.result;
  throw new Error(`No result but ${JSON.stringify(answer)}`);
}
