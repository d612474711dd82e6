// The floor: a loop of bare child_process.spawn. Reads `count concurrency` lines, answers the milliseconds each took.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const once = () =>
  new Promise((resolve) => {
    const child = spawn('/bin/true', [], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.resume();
    child.stderr.resume();
    child.on('close', resolve);
  });

for await (const line of createInterface({ input: process.stdin })) {
  const [count, concurrency] = line.split(' ').map(Number);
  let left = count;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (left-- > 0) await once();
    }),
  );
  process.stdout.write(`${performance.now() - start}\n`);
}
