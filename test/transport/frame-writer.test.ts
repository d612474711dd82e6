import type { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createFrameWriter } from '../../src/transport/frame-writer.ts';
import { readAll, slowReader } from './slow-reader.ts';

function create(output: Writable) {
  const levels: string[] = [];
  const writer = createFrameWriter(output, {
    onSaturated: (saturated) => levels.push(saturated ? 'saturated' : 'relieved'),
    onOverfull: (overfull) => levels.push(overfull ? 'overfull' : 'accepting'),
  });
  return { writer, levels };
}

const MIB = 1024 * 1024;

describe('createFrameWriter()', () => {
  it('joins small frames of one turn and keeps the order with large ones and parts', async () => {
    const reader = slowReader();
    const { writer } = create(reader.output);
    const large = 'y'.repeat(200_000);
    writer.send('a\n');
    writer.send(['b', '\n']);
    writer.send([`${large}é`, Buffer.from('€'), '\n']);
    writer.send('c\n');
    await readAll(reader, writer);

    expect(reader.written.join('')).toBe(`a\nb\n${large}é€\nc\n`);
    expect(reader.written[0]).toBe('a\nb\n');
  });

  it('does not change what waits when its memory is used again', async () => {
    const reader = slowReader();
    const { writer } = create(reader.output);
    const frames = Array.from({ length: 60 }, (_, n) => `${String(n).repeat(20_000)}\n`);
    for (const frame of frames) {
      writer.send(frame);
      if (frame.startsWith('3')) reader.read();
    }
    await readAll(reader, writer);

    expect(reader.written.join('')).toBe(frames.join(''));
  });

  it('tells once when the reader falls behind, and once when it has caught up', async () => {
    const reader = slowReader();
    const { writer, levels } = create(reader.output);
    for (let n = 0; n < 5; n += 1) writer.send('x'.repeat(MIB));
    expect(levels).toEqual(['saturated']);
    for (let n = 0; n < 15; n += 1) writer.send('x'.repeat(MIB));
    expect(levels).toEqual(['saturated', 'overfull']);
    await readAll(reader, writer);

    expect(levels).toEqual(['saturated', 'overfull', 'accepting', 'relieved']);
  });

  it('holds nobody back for a reader that is gone', async () => {
    const reader = slowReader();
    const { writer, levels } = create(reader.output);
    for (let n = 0; n < 5; n += 1) writer.send('x'.repeat(MIB));
    reader.output.destroy(new Error('EPIPE'));
    reader.read();
    await writer.flushed();
    for (let n = 0; n < 50; n += 1) writer.send('x'.repeat(MIB));
    writer.send('small\n');
    await writer.flushed();

    expect(levels.at(-1)).toBe('relieved');
    expect(levels.filter((level) => level === 'overfull')).toHaveLength(
      levels.filter((level) => level === 'accepting').length,
    );
  });
});
