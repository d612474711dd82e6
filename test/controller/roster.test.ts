import { describe, expect, it } from 'vitest';
import type { Link } from '../../src/controller/link.ts';
import { createRoster } from '../../src/controller/roster.ts';
import { silentLog } from '../../src/support/log.ts';
import { createSteppedClock } from '../process/stepped-clock.ts';

interface StubLink {
  link: Link;
  sent: string[];
  ended: string[];
  /** It said something. */
  speak(): void;
  setHeld(held: boolean): void;
}

function stubLink(): StubLink {
  const sent: string[] = [];
  const ended: string[] = [];
  let bytesRead = 10;
  let isHeld = false;
  // The part of a link that the roster uses.
  const link = {
    bytesRead: () => bytesRead,
    isHeld: () => isHeld,
    send: (frame: string) => void sent.push(frame),
    end: ({ code }: { code: string }) => void ended.push(code),
    calls: { begin: () => 'x-1' },
  } as unknown as Link;
  return { link, sent, ended, speak: () => (bytesRead += 1), setHeld: (held) => (isHeld = held) };
}

function rosterWith(stub: StubLink): {
  clock: ReturnType<typeof createSteppedClock>;
  roster: ReturnType<typeof createRoster>;
} {
  const clock = createSteppedClock();
  const roster = createRoster({ clock, log: silentLog });
  roster.add('web-1', 'node', stub.link);
  return { clock, roster };
}

describe('createRoster()', () => {
  it('asks a gateway that says nothing, once, and drops it when it does not answer', () => {
    const stub = stubLink();
    const { clock } = rosterWith(stub);
    clock.step(20_000);
    expect(stub.sent).toHaveLength(0);
    clock.step(6_000);
    expect(stub.sent).toHaveLength(1);
    expect(stub.ended).toEqual([]);
    clock.step(20_000);
    expect(stub.sent).toHaveLength(1);
    expect(stub.ended).toEqual(['ETIMEDOUT']);
  });

  it('keeps one that answers', () => {
    const stub = stubLink();
    const { clock } = rosterWith(stub);
    for (let round = 0; round < 100; round += 1) {
      clock.step(25_000);
      stub.speak();
    }
    expect(stub.ended).toEqual([]);
    expect(stub.sent.length).toBeGreaterThan(50);
  });

  it('concludes nothing from one that is held back', () => {
    const stub = stubLink();
    const { clock } = rosterWith(stub);
    stub.setHeld(true);
    clock.step(600_000);
    expect(stub.ended).toEqual([]);
  });

  it('gives a suspect five seconds, rounded up to the next look', () => {
    const stub = stubLink();
    const { clock, roster } = rosterWith(stub);
    clock.step(7_000);
    const member = roster.find('web-1');
    if (member !== undefined) roster.suspect(member);
    expect(stub.sent).toHaveLength(1);
    clock.step(8_000);
    expect(stub.ended).toEqual(['ETIMEDOUT']);
  });

  it('stops looking when it is closed', () => {
    const { clock, roster } = rosterWith(stubLink());
    roster.close();
    expect(clock.pendingTimers).toBe(0);
  });
});
