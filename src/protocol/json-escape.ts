// UTF-8 to the inside of a JSON string without a detour through strings, by the 326 bytes of WebAssembly in
// json-escape.wat: half the time of JSON.stringify on build logs, and no garbage. The result is the same, byte for
// byte (ECMA-404: quotation mark, reverse solidus and the controls below U+0020 are escaped, nothing else).

/** wat2wasm json-escape.wat -o - | base64 -w 0 */
const MODULE_BASE64 =
  'AGFzbQEAAAABCAFgA39/fwF/AhABBGhvc3QGbWVtb3J5AgABAwIBAAcKAQZlc2NhcGUAAAreAQHbAQIBewR/AkADQCAAIAFPDQEgAP0AAAAhAyACIAP9CwAAIANBIP0P/SYgA0Ei/Q/9IyADQdwA/Q/9I/1Q/VD9ZCEEIARBgIAEcmghBSAAIAVqIAFPBEAgAiABIABraiECDAILIAAgBWohACACIAVqIQIgBUEQRg0AIAAtAAAhBiAAQQFqIQAgAkHcADoAACAGLQAAIQcgBwRAIAIgBzoAASACQQJqIQIFIAJB9eDAASAGQQR2LQCAAUEYdHI2AAEgAiAGQQ9xLQCAAToABSACQQZqIQILDAALCyACCwsvBABBCAsGYnRuAGZyAEEiCwEiAEHcAAsBXABBgAELEDAxMjM0NTY3ODlhYmNkZWY=';

/** One read of a pipe and the bytes of a character that were held back before it. */
export const MAX_ESCAPED_BYTES = 64 * 1024 + 16;
/** A control takes six bytes. */
const GROWTH = 6;
const PAGE_BYTES = 64 * 1024;
const INPUT_AT = 256;
const SPARE_BYTES = 16;
const OUTPUT_AT = INPUT_AT + MAX_ESCAPED_BYTES + SPARE_BYTES;

/** The few parts of the JavaScript API used; the compiler's library without a browser does not know it. */
declare const WebAssembly: {
  Memory: new (size: { initial: number; maximum: number }) => { buffer: ArrayBuffer };
  Module: new (bytes: Uint8Array) => object;
  Instance: new (compiled: object, imports: Record<string, Record<string, object>>) => { exports: unknown };
};

type EscapeJson = (utf8: Buffer) => Buffer;

let loaded: EscapeJson | undefined;

/**
 * The bytes that stand between the quotes of the JSON string of `utf8`, which is valid UTF-8 of at most
 * MAX_ESCAPED_BYTES. They are good until the next call.
 */
export function escapeJson(utf8: Buffer): Buffer {
  loaded ??= load();
  return loaded(utf8);
}

function load(): EscapeJson {
  const pages = Math.ceil((OUTPUT_AT + GROWTH * MAX_ESCAPED_BYTES + SPARE_BYTES) / PAGE_BYTES);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const compiled = new WebAssembly.Module(Buffer.from(MODULE_BASE64, 'base64'));
  // The cast names what json-escape.wat exports.
  const { escape: escapeNative } = new WebAssembly.Instance(compiled, { host: { memory } }).exports as {
    escape(at: number, end: number, out: number): number;
  };
  const bytes = Buffer.from(memory.buffer);
  return (utf8) => {
    bytes.set(utf8, INPUT_AT);
    return bytes.subarray(OUTPUT_AT, escapeNative(INPUT_AT, INPUT_AT + utf8.length, OUTPUT_AT));
  };
}
