// Memory of dead buffers, given back at once. Left to the garbage collector, which sees only the small objects in front of
// it, some 100 MB of them pile up under load; a daemon of that size also forks more slowly.

/** Smaller buffers are not worth the call. */
const MIN_RELEASED_BYTES = 2 * 1024;

/** Frees the bytes behind `buffer`, which is empty afterwards. Nothing happens when it shares its memory with others. */
export function releaseBytes(buffer: Buffer): void {
  const memory = buffer.buffer;
  if (buffer.length < MIN_RELEASED_BYTES || buffer.length !== memory.byteLength) return;
  if (memory instanceof ArrayBuffer) memory.transfer(0);
}
