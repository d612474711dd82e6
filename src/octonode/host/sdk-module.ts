// Makes `burrow/node` a module that any file can import or require in this process, although no such file exists.

import { registerHooks } from 'node:module';
import { defineClass, defineConst, defineNode, defineService, NodeError } from '../sdk/sdk.ts';

const SPECIFIER = 'burrow/node';
const URL_OF_SDK = 'burrow:node';
const KEY = 'burrow.node.sdk';

/** What the module exports. */
const EXPORTS = { defineNode, defineService, defineClass, defineConst, NodeError };

/** From now on, for the life of this process. Answers the URLs of all files that are loaded from now on, in order. */
export function provideSdkModule(): ReadonlySet<string> {
  const loadedUrls = new Set<string>();
  // The made-up sources below have no scope of ours: a registered symbol is what both sides know.
  Reflect.set(globalThis, Symbol.for(KEY), EXPORTS);
  const value = `globalThis[Symbol.for('${KEY}')]`;
  const sources = {
    module: `const sdk = ${value};\nexport const { ${Object.keys(EXPORTS).join(', ')} } = sdk;\n`,
    commonjs: `module.exports = ${value};\n`,
  };
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier !== SPECIFIER) return next(specifier, context);
      const format = context.conditions.includes('import') ? 'module' : 'commonjs';
      return { url: URL_OF_SDK, format, shortCircuit: true };
    },
    load(url, context, next) {
      if (url.startsWith('file:')) loadedUrls.add(url);
      if (url !== URL_OF_SDK) return next(url, context);
      const format = context.format === 'commonjs' ? 'commonjs' : 'module';
      return { format, source: sources[format], shortCircuit: true };
    },
  });
  return loadedUrls;
}
