// `npm run build`: source → dist/burrow.cjs → dist/burrow.
import { binary } from './binary.ts';
import { bundle } from './bundle.ts';

const mebibytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(2)} MiB`;

const { sizeBytes: bundleBytes } = await bundle();
const binaryBytes = await binary();
console.error(
  `Built dist/burrow: ${mebibytes(binaryBytes)}, of which ${mebibytes(bundleBytes)} are burrow itself`,
);
