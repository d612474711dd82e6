import { describe, expect, it } from 'vitest';
import { createOperatorPace } from '../../src/controller/operator-pace.ts';
import type { Relayed } from '../../src/controller/relay.ts';
import type { BurrowError } from '../../src/protocol/errors.ts';
import { createSteppedClock } from '../process/stepped-clock.ts';

const MIB = 'x'.repeat(1024 * 1024);

function stubRelayed(): { relayed: Relayed; held: boolean[]; errors: BurrowError[] } {
  const held: boolean[] = [];
  const errors: BurrowError[] = [];
  // The part of a link that holding back uses.
  const relayed = {
    link: {
      hold: (now: boolean) => void held.push(now),
      calls: { abandon: (_call: unknown, error: BurrowError) => void errors.push(error) },
    },
    call: { operationId: 'op-1' },
  } as unknown as Relayed;
  return { relayed, held, errors };
}

/** One operation whose output, of that many MiB, its operator does not read. */
function startSlowReader(mebibytes: number) {
  const { relayed, held, errors } = stubRelayed();
  const clock = createSteppedClock();
  const pace = createOperatorPace(clock);
  pace.begin(relayed);
  pace.setSaturated(true);
  for (let mib = 0; mib < mebibytes; mib += 1) pace.count(MIB);
  return { pace, clock, held, errors };
}

describe('createOperatorPace()', () => {
  it('holds nobody back for a reader that is slow over less than 16 MiB', () => {
    const { held } = startSlowReader(16);
    expect(held).toEqual([]);
  });

  it('holds its gateways beyond that and lets go when the reader reads on', () => {
    const { pace, clock, held, errors } = startSlowReader(20);
    expect(held).toEqual([true]);
    pace.setSaturated(false);
    expect(held).toEqual([true, false]);
    clock.step(60_000);
    expect(errors).toEqual([]);
  });

  it('lets go after 10 s and answers the operator that its operations run on', () => {
    const { clock, held, errors } = startSlowReader(20);
    clock.step(10_000);
    expect(held).toEqual([true, false]);
    expect(errors).toMatchObject([{ code: 'gateway_disconnected', details: { operationId: 'op-1' } }]);
  });
});
