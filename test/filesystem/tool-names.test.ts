import { describe, expect, it } from 'vitest';
import { FILESYSTEM_TOOLS } from '../../src/filesystem/filesystem.ts';
import { FILESYSTEM_TOOL_NAMES } from '../../src/protocol/filesystem-params.ts';

describe('FILESYSTEM_TOOL_NAMES', () => {
  it('names the tools that there are, and no other', () => {
    expect(FILESYSTEM_TOOL_NAMES.toSorted()).toEqual(FILESYSTEM_TOOLS.toSorted());
  });
});
