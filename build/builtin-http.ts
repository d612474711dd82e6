// In the place of `import("http")` in a dependency: see build/bundle.ts.
export { Agent, request } from 'node:http';
