import { describe, expect, it } from 'vitest';
import { explainEnd } from '../../src/commands/evidence-text.ts';
import type { ProcessEvidence } from '../../src/protocol/evidence.ts';
import { sampleEvidence } from '../protocol/sample-evidence.ts';

const LIVE = { isReplay: false, isOutputCut: false };
const CUT_LIVE = { isReplay: false, isOutputCut: true };
const REPLAY = { isReplay: true, isOutputCut: false };
const SHORTENED = { truncated: true, transportTruncated: true } as const;

describe('explainEnd()', () => {
  it.each<[string, Partial<ProcessEvidence>, typeof LIVE]>([
    ['a whole output', {}, LIVE],
    ['a replay of a whole output', {}, REPLAY],
    ['a whole live output whose evidence alone is shortened', SHORTENED, LIVE],
  ])('says nothing about %s', (_, changes, shown) => {
    expect(explainEnd(sampleEvidence(changes), shown)).toBe('');
  });

  it.each<[string, Partial<ProcessEvidence>, typeof LIVE, string]>([
    ['a command that ended by itself', { truncated: true }, CUT_LIVE, 'Output was cut at the output limit'],
    [
      'an ended command',
      { truncated: true, killed: true, exitCode: null, signal: 'SIGTERM' },
      CUT_LIVE,
      'Output was cut at the output limit, where the command was ended',
    ],
    [
      'a command that had ended by itself when the signal came',
      { truncated: true, killed: true, exitCode: 0, signal: null },
      CUT_LIVE,
      'Output was cut at the output limit, where the command was told to end',
    ],
    ['evidence that is shortened as well', SHORTENED, CUT_LIVE, 'Output was cut at the output limit'],
    ['a replay', { truncated: true }, REPLAY, 'Output was cut at the output limit'],
    ['a replay that a frame cannot hold', SHORTENED, REPLAY, 'Output was shortened'],
  ])('says that output is missing: %s', (_, changes, shown, text) => {
    expect(explainEnd(sampleEvidence(changes), shown)).toMatch(new RegExp(`^burrow: .*${text}.*\\n$`));
  });

  it('says both when a command that ran out of time had its output cut', () => {
    const evidence = sampleEvidence({
      ...{ truncated: true, killed: true, timedOut: true, timeoutReason: 'timeoutMs', timeoutMs: 500 },
    });

    expect(explainEnd(evidence, CUT_LIVE)).toBe(
      'burrow: Ended after 500 ms (raise --timeout)\n' +
        'burrow: Output was cut at the output limit (raise --max-output)\n',
    );
  });
});
