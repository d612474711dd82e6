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

describe('createOperatorPace()', () => {
  it('holds nobody back for a reader that is slow over less than 16 MiB', () => {
    const { relayed, held } = stubRelayed();
    const pace = createOperatorPace(createSteppedClock());
    pace.begin(relayed);
    pace.setSaturated(true);
    for (let mib = 0; mib < 16; mib += 1) pace.count(MIB);
    expect(held).toEqual([]);
  });

  it('holds its gateways beyond that and lets go when the reader reads on', () => {
    const { relayed, held, errors } = stubRelayed();
    const clock = createSteppedClock();
    const pace = createOperatorPace(clock);
    pace.begin(relayed);
    pace.setSaturated(true);
    for (let mib = 0; mib < 20; mib += 1) pace.count(MIB);
    expect(held).toEqual([true]);
    pace.setSaturated(false);
    expect(held).toEqual([true, false]);
    clock.step(60_000);
    expect(errors).toEqual([]);
  });

  it('lets go after 10 s and answers the operator that its operations run on', () => {
    const { relayed, held, errors } = stubRelayed();
    const clock = createSteppedClock();
    const pace = createOperatorPace(clock);
    pace.begin(relayed);
    pace.setSaturated(true);
    for (let mib = 0; mib < 20; mib += 1) pace.count(MIB);
    clock.step(10_000);
    expect(held).toEqual([true, false]);
    expect(errors).toMatchObject([{ code: 'gateway_disconnected', details: { operationId: 'op-1' } }]);
  });
});
