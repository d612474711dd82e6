import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { SCHEMAS } from '../../build/docs.ts';
import { FILESYSTEM_TOOLS } from '../../src/filesystem/filesystem.ts';
import { hmacProof, isPairingSignature, pairingCode, parseAuthMessage } from '../../src/protocol/auth.ts';
import * as defaults from '../../src/protocol/defaults.ts';
import { sha256Hex } from '../../src/protocol/digest.ts';
import { parseReply } from '../../src/protocol/envelopes.ts';
import { ERRORS } from '../../src/protocol/errors.ts';
import { parseRequest } from '../../src/protocol/request.ts';

const text = readFileSync(new URL('../../docs/protocol.md', import.meta.url), 'utf8');
const samples = [...text.matchAll(/^```(.*)\n([\s\S]*?)\n```$/gm)].map(([, label = '', body = '']) => ({
  schemas: label.split(' ').slice(1),
  label,
  body,
}));
const requests = samples.filter(({ label }) => label === 'json request');
const AUTHENTICATION = ['auth.challenge', 'auth.response', 'pairing.pending', 'auth.ok'];
const authentication = samples.filter(({ schemas: [name = ''] }) => AUTHENTICATION.includes(name));
const answers = samples.filter(
  (sample) =>
    sample.label.startsWith('json ') && sample.label !== 'json request' && !authentication.includes(sample),
);

function schemaOf(name: string | undefined): v.GenericSchema {
  const schema = SCHEMAS[name ?? ''];
  if (schema === undefined) throw new Error(`No schema is called "${name}"`);
  return schema;
}

function headingsOf(section: string): string[] {
  const body = text.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? '';
  return [...body.matchAll(/^### (.*)$/gm)].map(([, heading = '']) => heading);
}

function namesEnding(ending: string): string[] {
  return Object.keys(SCHEMAS)
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length));
}

describe('docs/protocol.md', () => {
  it('labels every sample with its schema', () => {
    expect(samples.length).toBeGreaterThan(15);
    for (const { label } of samples) expect(label).toMatch(/^text$|^json [a-z.]+( [a-z.]+\.result)?$/);
  });

  it.each(requests)('shows a request that is taken: $body', ({ body }) => {
    const parsed = parseRequest(Buffer.from(body));
    if (parsed.status === 'invalid') throw parsed.error;
    v.parse(schemaOf('request'), JSON.parse(body));
    v.parse(schemaOf(`${parsed.request.method}.params`), parsed.request.params);
  });

  it.each(answers)('shows a valid $label', ({ body, schemas: [envelope, result] }) => {
    const value = JSON.parse(body);
    v.parse(schemaOf(envelope), value);
    if (result !== undefined) v.parse(schemaOf(result), value.result);
    expect(parseReply(body)).toEqual({ status: 'reply', reply: value });
    expect(body).toBe(JSON.stringify(value));
  });

  it.each(authentication)('shows a valid $label', ({ body, schemas: [name] }) => {
    const value = JSON.parse(body);
    v.parse(schemaOf(name), value);
    expect(parseAuthMessage(Buffer.from(body))).toEqual({ status: 'message', message: value });
    expect(body).toBe(JSON.stringify(value));
  });

  it('shows proofs, a signature and a code that are right', () => {
    const [challenge, enrolled, paired, pending] = authentication.map(({ body }) => JSON.parse(body));
    const { gatewayId, nodePublicKey } = paired;
    const { nonce, controllerPublicKey } = challenge;
    const transcript = { nonce, gatewayId, nodePublicKey, controllerPublicKey };
    const [, secret = ''] = /secret of an enrollment, here `(.*?)`/.exec(text) ?? [];
    expect(enrolled.proof).toBe(hmacProof(secret, { gatewayId, nonce }));
    expect(isPairingSignature(paired.pairingSignature, transcript)).toBe(true);
    expect([paired.pairingCode, pending.pairingCode]).toEqual(Array(2).fill(pairingCode(transcript)));
  });

  it('shows true digests', () => {
    const evidences = answers
      .map(({ body }) => JSON.parse(body))
      .map((value) => value.evidence ?? value.result?.outcome);
    const found = evidences.filter((evidence) => evidence?.type === 'process.result');
    expect(found).toHaveLength(2);
    for (const evidence of found) {
      expect(evidence.stdoutDigest).toBe(sha256Hex(evidence.stdout));
      expect(evidence.stderrDigest).toBe(sha256Hex(evidence.stderr));
    }
  });

  it('shows true fingerprints of filesystem outcomes', () => {
    const found = answers.filter(({ body }) => body.includes('"resultFingerprint"'));
    expect(found.length).toBeGreaterThan(7);
    for (const { body } of found) {
      const { resultFingerprint, execution, ...before } = JSON.parse(body).result.outcome;
      expect(execution.kind).toBe('gateway');
      expect(sha256Hex(JSON.stringify(before)).slice(0, 16)).toBe(resultFingerprint);
    }
  });

  it('describes the seven filesystem tools, each with a sample', () => {
    const part = text.slice(text.indexOf('### filesystem.execute\n')).split('\n### ')[0] ?? '';
    const described = [...part.matchAll(/^#### (files_[a-z]+)$/gm)].map(([, tool = '']) => tool);
    expect(described.toSorted()).toEqual(FILESYSTEM_TOOLS.toSorted());
    for (const tool of FILESYSTEM_TOOLS) {
      expect(part).toContain(
        `"method":"filesystem.execute","params":{"operationId":"${tool}","tool":"${tool}"`,
      );
      expect(part).toContain(`"outcome":{"tool":"${tool}","ok":true`);
    }
  });

  it('describes every method and every envelope, and no others', () => {
    expect(headingsOf('Requests').toSorted()).toEqual(['request', ...namesEnding('.params')].toSorted());
    const parts = [...namesEnding('.params'), ...namesEnding('.result')].flatMap((method) => [
      `${method}.params`,
      `${method}.result`,
    ]);
    const envelopes = Object.keys(SCHEMAS).filter(
      (name) => !['request', 'evidence', 'filesystem.outcome', ...parts].includes(name),
    );
    expect(headingsOf('Authentication')).toEqual(AUTHENTICATION);
    expect([...headingsOf('Answers and events'), ...AUTHENTICATION].toSorted()).toEqual(envelopes.toSorted());
  });

  it('names every field of process.exec and of the evidence', () => {
    for (const [start, schema] of [
      ['### process.exec\n', 'process.exec.params'],
      ['### process.terminal\n', 'evidence'],
    ] as const) {
      const part = text.slice(text.indexOf(start)).split('\n### ')[0] ?? '';
      const rows = [...part.matchAll(/^\| (`.*?) \|/gm)].map(([, cell = '']) => cell);
      const documented = rows.flatMap((cell) => cell.split(', ').map((name) => name.replaceAll('`', '')));
      // An object schema of either kind: its entries are what the table must list.
      const { entries } = schemaOf(schema) as v.GenericSchema & { entries: object };
      expect(documented.toSorted()).toEqual(
        Object.keys(entries)
          .filter((name) => name !== 'type')
          .toSorted(),
      );
    }
  });

  it('states the limits of the code', () => {
    const rows = [...text.matchAll(/^\| `([A-Z_]+)` \| (\d+) \|/gm)];
    expect(rows.length).toBeGreaterThan(10);
    const known: Record<string, unknown> = { ...defaults };
    for (const [, name = '', value] of rows) expect([name, known[name]]).toEqual([name, Number(value)]);
    for (const [, name = ''] of text.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)) expect(known).toHaveProperty(name);
  });

  it('names only error codes that exist', () => {
    const codes = [...text.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, code = '']) => code);
    expect(codes.length).toBeGreaterThan(10);
    for (const code of codes) {
      if (!FILESYSTEM_TOOLS.includes(code)) expect(ERRORS).toHaveProperty(code);
    }
  });

  it('links only to headings and files that exist', () => {
    const anchors = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading.toLowerCase().replaceAll('.', ''),
    );
    for (const [, anchor = ''] of text.matchAll(/\]\(#(.*?)\)/g)) expect(anchors).toContain(anchor);
  });
});
