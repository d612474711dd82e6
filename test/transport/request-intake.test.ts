import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Session } from '../../src/gateway/connection.ts';
import { createRequestIntake } from '../../src/transport/request-intake.ts';

/** `onLine` sees each line and may hold the intake. */
function take(onLine: (line: string) => void = () => {}) {
  const seen: string[] = [];
  const session: Session = {
    receive(line) {
      seen.push(line.toString());
      onLine(line.toString());
    },
    receiveOversized: () => void seen.push('oversized'),
    setSaturated: () => {},
    idle: () => Promise.resolve(),
  };
  const input = new PassThrough();
  const intake = createRequestIntake(input, session, () => void seen.push('end'));
  return { seen, input, intake };
}

async function turns(): Promise<void> {
  for (let n = 0; n < 5; n += 1) await new Promise(setImmediate);
}

describe('createRequestIntake()', () => {
  it('keeps the rest of a chunk back once it is held, and every later chunk', async () => {
    const { seen, input, intake } = take((line) => {
      if (line === 'b' || line === 'd') intake.hold(true);
    });
    input.write('a\nb\nc\nd\ne\n');
    input.write(`f\n${'x'.repeat(3_000)}\n`);
    await turns();
    expect(seen).toEqual(['a', 'b']);

    intake.hold(false);
    await turns();
    expect(seen).toEqual(['a', 'b', 'c', 'd']);
    intake.hold(false);
    await turns();
    expect(seen).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'x'.repeat(3_000)]);
  });

  it('keeps what it holds whole although the memory of its chunk is freed', async () => {
    const lines = Array.from({ length: 500 }, (_, n) => `${n}`.padStart(50, '-'));
    const { seen, input, intake } = take((line) => {
      if (line === lines[0]) intake.hold(true);
    });
    input.write(Buffer.from(`${lines.join('\n')}\n`));
    await turns();
    intake.hold(false);
    await turns();

    expect(seen).toEqual(lines);
  });

  it('has ended after its last line, held or not', async () => {
    const { seen, input, intake } = take((line) => {
      if (line === 'a') intake.hold(true);
    });
    input.end('a\nb\nlast');
    await turns();
    expect(seen).toEqual(['a']);
    intake.hold(false);
    await turns();

    expect(seen).toEqual(['a', 'b', 'last', 'end']);
  });

  it('has ended when its input fails', async () => {
    const { seen, input } = take();
    input.write('a\n');
    await turns();
    input.destroy(new Error('EIO'));
    await turns();

    expect(seen).toEqual(['a', 'end']);
  });
});
