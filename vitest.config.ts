import { defineConfig } from 'vitest/config';
import { constants } from './build/bundle.ts';

export default defineConfig({
  define: constants(),
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    teardownTimeout: 5_000,
    // Real child processes share two cores with the suite; more workers only add noise to their timing.
    maxWorkers: 2,
    globalSetup: ['test/setup/leftovers.ts'],
    setupFiles: ['test/setup/warnings.ts'],
  },
});
