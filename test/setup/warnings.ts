// A stray runtime warning (a leaked listener, a deprecated call) fails the test file that caused it.
import { afterAll } from 'vitest';

const warnings: string[] = [];
process.on('warning', (warning) => warnings.push(`${warning.name}: ${warning.message}`));

afterAll(() => {
  if (warnings.length > 0) throw new Error(`Runtime warnings during the tests: ${warnings.join('; ')}`);
});
