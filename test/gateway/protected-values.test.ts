import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLocalGateway } from '../../src/commands/local-gateway.ts';
import type { System } from '../../src/commands/system.ts';
import type { Connection, Session } from '../../src/gateway/connection.ts';
import { MAX_TLS_FRAME_BYTES } from '../../src/protocol/defaults.ts';
import { sha256Hex } from '../../src/protocol/digest.ts';
import { frameText } from '../../src/protocol/envelopes.ts';
import { systemClock } from '../../src/support/clock.ts';
import { Secret } from '../../src/support/secret.ts';

const SECRET = 'S3CR3T-abcdef';
const BINDING = { gatewayId: 'host-1', connectionId: 'connection-1', requestId: 'r1', operationId: 'op-1' };

// biome-ignore lint/suspicious/noExplicitAny: frames are looked into by path.
type Frame = any;

let directory: string;
let frames: Frame[];
let logged: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'burrow-protected-'));
  frames = [];
  logged = '';
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

interface Peer {
  session: Session;
  stop(): Promise<void>;
}

async function connect(options: Partial<Connection> = {}): Promise<Peer> {
  const say = (message: string): void => {
    logged += `${message}\n`;
  };
  const system = { env: process.env, cwd: '/', clock: systemClock } as unknown as System;
  const local = await createLocalGateway(system, {
    journal: { kind: 'directory', path: directory },
    log: { error: say, warn: say, info: say, debug: say },
  });
  const session = local.gateway.connect({
    transport: 'tls-jsonl-outbound',
    maxFrameBytes: MAX_TLS_FRAME_BYTES,
    secure: { gatewayId: 'host-1', connectionId: 'connection-1' },
    send: (frame) => frames.push(JSON.parse(frameText(frame))),
    ...options,
  });
  return {
    session,
    async stop() {
      await session.idle();
      await local.gateway.stop();
      await local.journal.close();
    },
  };
}

async function exec(
  params: object,
  { id = 'r1' as unknown, ...options }: { id?: unknown } & Partial<Connection> = {},
): Promise<Frame> {
  const peer = await connect(options);
  peer.session.receive(
    Buffer.from(
      JSON.stringify({
        id,
        method: 'process.exec',
        params: { operationId: 'op-1', protectedDelivery: BINDING, ...params },
      }),
    ),
  );
  await peer.stop();
  return frames.at(-1);
}

describe('protected values', () => {
  it('reach the process over its other environment, and nothing else', async () => {
    const answer = await exec({
      command: 'echo "$TOKEN"; echo "err $TOKEN" >&2; test "$TOKEN" = S3CR3T-abcd"ef" && exit 7',
      env: { TOKEN: 'ordinary' },
      protectedValues: { TOKEN: SECRET },
    });
    const { outcome } = answer.result;
    expect(outcome).toMatchObject({ exitCode: 7, stdout: '[redacted]\n', stderr: 'err [redacted]\n' });
    expect(outcome.stdoutDigest).toBe(sha256Hex('[redacted]\n'));
    const stored = readdirSync(directory).map((name) => readFileSync(join(directory, name), 'latin1'));
    expect(stored.join('')).toContain('op-1');
    for (const text of [JSON.stringify(frames), stored.join(''), logged]) expect(text).not.toContain(SECRET);
  });

  it('are masked across writes of the process', async () => {
    const answer = await exec({
      command: "printf S3CR3T-; sleep 0.2; printf 'abcdef\\n'",
      protectedValues: { TOKEN: SECRET },
    });
    expect(answer.result.outcome.stdout).toBe('[redacted]\n');
    const parts = frames.filter((frame) => frame.type === 'process.stream').map((frame) => frame.data);
    expect(parts.join('')).toBe('[redacted]\n');
  });

  it.each([5, 10, 12, 20])('are masked before %s bytes of output are cut off', async (maxOutputBytes) => {
    const answer = await exec({
      command: 'printf "x%s%s" "$TOKEN" "$TOKEN"',
      protectedValues: { TOKEN: SECRET },
      maxOutputBytes,
    });
    expect(answer.result.outcome).toMatchObject({
      truncated: true,
      stdout: 'x[redacted][redacted]'.slice(0, maxOutputBytes),
    });
  });

  it('are masked in why a process did not start', async () => {
    const answer = await exec({ executable: `/nowhere/${SECRET}`, protectedValues: { TOKEN: SECRET } });
    expect(answer.error).toMatchObject({ code: 'spawn_failed', operationId: 'op-1' });
    expect(JSON.stringify(answer)).not.toContain(SECRET);
  });

  it('are bound to a request whose id is a number by that number', async () => {
    const answer = await exec(
      { command: 'true', protectedValues: { A: 'b' }, protectedDelivery: { ...BINDING, requestId: 5 } },
      { id: 5 },
    );
    expect(answer.ok).toBe(true);
  });

  it.each<[string, object, object]>([
    ['another gateway', { protectedDelivery: { ...BINDING, gatewayId: 'host-2' } }, {}],
    ['another connection', { protectedDelivery: { ...BINDING, connectionId: 'connection-2' } }, {}],
    ['another request', { protectedDelivery: { ...BINDING, requestId: 'r2' } }, {}],
    ['another operation', { protectedDelivery: { ...BINDING, operationId: 'op-2' } }, {}],
    ['an id of another type', {}, { id: 1 }],
    ['no operation id', { operationId: null, protectedDelivery: { ...BINDING, operationId: '' } }, {}],
    ['no binding', { protectedDelivery: null }, {}],
    ['half a binding', { protectedDelivery: { gatewayId: 'host-1' } }, {}],
    ['no authentication', {}, { secure: undefined }],
    ['a unix socket', {}, { secure: undefined, transport: 'unix-jsonl' }],
    ['a name that is none', { protectedValues: { '1A': SECRET } }, {}],
    ['a name with a line end', { protectedValues: { 'A\n': SECRET } }, {}],
    ['an empty value', { protectedValues: { A: '', B: SECRET } }, {}],
    ['a value with a zero byte', { protectedValues: { A: `${SECRET}\0` } }, {}],
    ['a value that is no string', { protectedValues: { A: [SECRET] } }, {}],
    ['a list', { protectedValues: [SECRET] }, {}],
    ['text', { protectedValues: SECRET }, {}],
  ])('are refused with %s', async (_name, params, options) => {
    const marker = join(directory, 'ran');
    const answer = await exec(
      { command: `touch ${marker}`, protectedValues: { TOKEN: SECRET }, ...params },
      options,
    );
    expect(answer).toMatchObject({
      type: 'error',
      ok: false,
      error: { code: 'protected_delivery_binding_invalid' },
    });
    expect(frames).toHaveLength(1);
    expect(readdirSync(directory)).not.toContain('ran');
    expect(JSON.stringify(frames) + logged).not.toContain(SECRET);
  });

  it('are not taken again for an operation that has completed; the outcome is replayed without them', async () => {
    const request = { operationId: 'op-1', command: 'echo "$TOKEN"' };
    const peer = await connect();
    const send = async (params: object): Promise<Frame> => {
      const next = frames.length;
      peer.session.receive(Buffer.from(JSON.stringify({ id: 'r1', method: 'process.exec', params })));
      await expect
        .poll(() => frames.slice(next).some((frame) => 'requestId' in frame && frame.type !== 'accepted'))
        .toBe(true);
      return frames.at(-1);
    };
    const withValues = { ...request, protectedValues: { TOKEN: SECRET }, protectedDelivery: BINDING };
    await send(withValues);
    expect((await send(withValues)).error.code).toBe('protected_redelivery_forbidden');
    expect((await send(request)).result).toMatchObject({ replay: true, outcome: { stdout: '[redacted]\n' } });
    await peer.stop();
  });
});

describe('Secret', () => {
  it('shows a mask wherever it is printed', () => {
    const secret = new Secret(SECRET);
    expect([`${secret}`, JSON.stringify({ secret }), inspect({ secret })].join()).not.toContain(SECRET);
    expect(secret.reveal()).toBe(SECRET);
  });
});
