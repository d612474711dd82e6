// Conversations, one line of the wire per line: `> ` what a client sends, `< ` what the gateway sends, `# ` remarks.
// Both ends are held to them: our parser and our encoders, byte for byte.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as envelopes from '../../src/protocol/envelopes.ts';
import { BurrowError, type ErrorCode } from '../../src/protocol/errors.ts';
import { encodeEvidence, type ProcessEvidence } from '../../src/protocol/evidence.ts';
import { parseExecParams } from '../../src/protocol/exec-params.ts';
import { parseFilesystemParams } from '../../src/protocol/filesystem-params.ts';
import { parseRequest, type Request } from '../../src/protocol/request.ts';
import { parseCancelParams } from '../../src/protocol/simple-params.ts';

const directory = new URL('.', import.meta.url);
const conversations = readdirSync(directory)
  .filter((name) => name.endsWith('.txt'))
  .map((name) => ({ name, lines: readFileSync(new URL(name, directory), 'utf8').split('\n') }));

function sentBy(mark: '>' | '<', lines: string[]): string[] {
  return lines.filter((line) => line.startsWith(`${mark} `)).map((line) => line.slice(2));
}

function replyOf(line: string): envelopes.Reply {
  const parsed = envelopes.parseReply(line);
  if (parsed.status !== 'reply') throw new Error(`${parsed.status}: ${line}`);
  return parsed.reply;
}

/** The reply written again from its parts. The id is taken as text, because not every number survives parsing. */
function encodeAgain(reply: envelopes.Reply, line: string): envelopes.Frame {
  const idJson = /"requestId":("[^"]*"|[^,]*)/.exec(line)?.[1] ?? 'null';
  switch (reply.type) {
    case 'accepted':
      return envelopes.encodeAccepted(idJson, reply.operationId);
    case 'process.stream':
      return envelopes.encodeStream({
        ...reply,
        text: { text: reply.data },
        operationIdJson: JSON.stringify(reply.operationId),
      });
    case 'process.terminal': {
      const operationIdJson = JSON.stringify(reply.operationId);
      // The schema has checked every field; only "a field that may be absent" is spelled differently there.
      const outcomeJson = encodeEvidence(reply.evidence as ProcessEvidence);
      return envelopes.encodeTerminal({ operationIdJson, seq: reply.seq, outcomeJson });
    }
    case 'transport.error':
      return envelopes.encodeTransportError(new BurrowError(reply.error.code as ErrorCode));
    case 'error':
    case 'response':
      return reply.ok ? encodeResultAgain(idJson, reply.result) : encodeFailureAgain(idJson, reply.error);
  }
}

function encodeResultAgain(idJson: string, result: Record<string, unknown>): envelopes.Frame {
  if (!('outcome' in result)) return envelopes.encodeResult(idJson, result);
  return envelopes.encodeOutcomeResponse({
    idJson,
    operationIdJson: JSON.stringify(result.operationId),
    replay: result.replay === true,
    outcomeJson: JSON.stringify(result.outcome),
    ...(result.journaled === false ? { journaled: false } : {}),
  });
}

function encodeFailureAgain(idJson: string, wire: { code: string; [field: string]: unknown }): string {
  const { code, ...details } = wire;
  // A transcript uses codes of the table; an unknown one fails in the encoder.
  return envelopes.encodeFailure(idJson, new BurrowError(code as ErrorCode, details));
}

const PARSERS: Record<
  string,
  (params: Record<string, unknown>) => { status: 'ok' } | { status: 'invalid'; error: BurrowError }
> = {
  'process.exec': parseExecParams,
  'filesystem.execute': parseFilesystemParams,
  cancel: parseCancelParams,
};

function refusalOf(request: Request): BurrowError | undefined {
  const parsed = PARSERS[request.method]?.(request.params) ?? { status: 'ok' as const };
  return parsed.status === 'invalid' ? parsed.error : undefined;
}

describe.each(conversations)('$name', ({ lines }) => {
  it('holds only lines of either side', () => {
    for (const line of lines) expect(line).toMatch(/^([><#] .*)?$/);
    expect(sentBy('<', lines).length).toBeGreaterThan(0);
  });

  it('is read by the client and written the same by the gateway', () => {
    for (const line of sentBy('<', lines))
      expect(envelopes.frameText(encodeAgain(replyOf(line), line))).toBe(`${line}\n`);
  });

  it('is read by the gateway: what it refuses by itself gets the answer that follows', () => {
    for (const [index, line] of lines.entries()) {
      if (!line.startsWith('> ')) continue;
      const parsed = parseRequest(Buffer.from(line.slice(2)));
      const idJson = parsed.status === 'invalid' ? parsed.idJson : parsed.request.idJson;
      const error = parsed.status === 'invalid' ? parsed.error : refusalOf(parsed.request);
      if (error !== undefined)
        expect(`< ${envelopes.encodeFailure(idJson, error)}`).toBe(`${lines[index + 1]}\n`);
    }
  });

  it('answers each request once and ends each operation in order', () => {
    const seqs = new Map<string, number>();
    let answers = 0;
    for (const line of sentBy('<', lines)) {
      const reply = replyOf(line);
      if (reply.type === 'response' || reply.type === 'error') answers += 1;
      if (reply.type === 'accepted') seqs.set(reply.operationId, 0);
      if (reply.type !== 'process.stream' && reply.type !== 'process.terminal') continue;
      expect(reply.seq).toBe((seqs.get(reply.operationId) ?? Number.NaN) + 1);
      seqs.set(reply.operationId, reply.seq);
    }
    expect(answers).toBe(sentBy('>', lines).length);
  });
});
