// In the place of `import("https")` in a dependency: see build/bundle.ts.
export { Agent, request } from 'node:https';
