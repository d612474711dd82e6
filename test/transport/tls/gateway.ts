// A gateway on a line to a controller, in this process, with everything that a test may want to look at.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createLocalGateway } from '../../../src/commands/local-gateway.ts';
import type { System } from '../../../src/commands/system.ts';
import type { Gateway } from '../../../src/gateway/gateway.ts';
import { type Clock, systemClock } from '../../../src/support/clock.ts';
import { Secret } from '../../../src/support/secret.ts';
import {
  type ControllerLink,
  connectToController,
  openTlsFiles,
  openTrust,
  parseControllerUrl,
} from '../../../src/transport/tls/tls.ts';

export interface LinkOptions {
  url: string;
  serverName?: string;
  directory: string;
  token?: string;
  caFile?: string;
  certFile?: string;
  keyFile?: string;
  clock?: Clock;
  random?: () => number;
  /** In place of a real one. */
  gateway?: Gateway;
}

export interface LinkedGateway {
  link: ControllerLink;
  log: string[];
  /** Resolves when a line of the log holds the text. */
  logged(text: string): Promise<string>;
  /** A file of the state directory; undefined when there is none. */
  state(name: string): string | undefined;
  stop(): Promise<void>;
}

/** Ten seconds pass in a tenth of one; nothing else changes. */
export const fastClock: Clock = {
  ...systemClock,
  startTimer: (delayMs, callback, options) => systemClock.startTimer(delayMs / 100, callback, options),
};

export async function startLink(options: LinkOptions): Promise<LinkedGateway> {
  const { clock = systemClock } = options;
  mkdirSync(options.directory, { recursive: true });
  const lines: string[] = [];
  let wake = (): void => {};
  const say = (level: string) => (message: string) => {
    lines.push(`${level} ${message}`);
    wake();
  };
  const log = { error: say('error'), warn: say('warn'), info: say('info'), debug: say('debug') };
  const system = { env: process.env, cwd: '/', clock: systemClock } as unknown as System;
  const local = await createLocalGateway(system, { journal: { kind: 'memory' }, log });
  const enrollmentToken = options.token === undefined ? undefined : new Secret(options.token);
  const link = connectToController(
    options.gateway ?? local.gateway,
    {
      address: parseControllerUrl(options.url, options.serverName),
      gatewayId: 'host-1',
      version: '1.2.3',
      trust: await openTrust(
        { directory: options.directory, gatewayId: 'host-1', enrollmentToken },
        { clock, log },
      ),
      files: openTlsFiles(
        { caFile: options.caFile, certFile: options.certFile, keyFile: options.keyFile },
        log,
      ),
    },
    { clock, log, random: options.random ?? Math.random },
  );
  const stop = async (): Promise<void> => {
    await local.gateway.stop();
    await link.close();
    await local.journal.close();
    await local.telemetry.close();
  };
  onTestFinished(stop);
  return {
    link,
    log: lines,
    async logged(text) {
      for (;;) {
        const found = lines.find((line) => line.includes(text));
        if (found !== undefined) return found;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    state(name) {
      try {
        return readFileSync(join(options.directory, name), 'utf8');
      } catch {
        return undefined;
      }
    },
    stop,
  };
}
