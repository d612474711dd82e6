// Would this value come out of JSON as it went in? Finds the first place where it would not.

const MAX_DEPTH = 2_000;

/** Undefined when nothing is lost. `path` is a JSON Pointer. Negative zero counts as zero; a shared object counts as copies. */
export function findLoss(value: unknown): { path: string; message: string } | undefined {
  return lossIn(value, '', []);
}

interface Loss {
  path: string;
  message: string;
}

function lossIn(value: unknown, path: string, ancestors: object[]): Loss | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : { path, message: `${value} does not exist in JSON` };
    case 'object':
      return value === null ? undefined : lossInObject(value, path, ancestors);
    default:
      return { path, message: `${typeof value} does not exist in JSON` };
  }
}

function lossInObject(value: object, path: string, ancestors: object[]): Loss | undefined {
  if (ancestors.includes(value)) return { path, message: 'a cycle does not exist in JSON' };
  if (ancestors.length >= MAX_DEPTH) return { path: '', message: `nesting is deeper than ${MAX_DEPTH}` };
  ancestors.push(value);
  const loss = Array.isArray(value)
    ? lossInArray(value, path, ancestors)
    : lossInRecord(value, path, ancestors);
  ancestors.pop();
  return loss;
}

function lossInArray(values: unknown[], path: string, ancestors: object[]): Loss | undefined {
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    // Most arrays hold text or whole numbers: no path is built for those.
    if (typeof value === 'string' || Number.isInteger(value)) continue;
    const loss = lossIn(value, `${path}/${index}`, ancestors);
    if (loss !== undefined) return loss;
  }
  return undefined;
}

function lossInRecord(record: object, path: string, ancestors: object[]): Loss | undefined {
  const prototype: unknown = Object.getPrototypeOf(record);
  if (prototype !== Object.prototype && prototype !== null) {
    return { path, message: `a ${record.constructor?.name ?? 'class instance'} does not survive JSON` };
  }
  for (const [key, value] of Object.entries(record)) {
    if (typeof value === 'string' || Number.isInteger(value)) continue;
    const loss = lossIn(value, `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, ancestors);
    if (loss !== undefined) return loss;
  }
  return undefined;
}
