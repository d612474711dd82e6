// files_search: the lines of a tree's files that hold a literal. Files are streamed through one buffer; binary files are
// passed over without a word, special files with a note; symlinks are not followed.

import * as v from 'valibot';
import { BurrowError } from '../protocol/errors.ts';
import { createAnswerLimit, MAX_ANSWER_ENTRIES } from './answer-limit.ts';
import { argumentsObject, bound, PathSchema, plainText } from './arguments.ts';
import { errnoOf } from './errno.ts';
import { findBounds } from './files-find.ts';
import { createLineScanner, type LineMatch } from './scan/line-scanner.ts';
import { searchFile } from './scan/search-file.ts';
import { createSlices } from './slices.ts';
import { defineTool, resolvePath, type ToolAnswer, type ToolContext } from './tool.ts';
import { type Completeness, createCompleteness } from './walk/completeness.ts';
import { type WalkEntry, walk } from './walk/walk.ts';

const DEFAULT_SEARCH_DEPTH = 8;
const DEFAULT_SEARCH_MATCHES = 200;

const SearchSchema = argumentsObject({
  dirPath: PathSchema,
  query: v.optional(
    v.pipe(
      plainText(''),
      v.check((query) => query.isWellFormed(), 'A lone surrogate cannot occur in UTF-8 text'),
    ),
    '',
  ),
  maxDepth: v.optional(bound(DEFAULT_SEARCH_DEPTH), DEFAULT_SEARCH_DEPTH),
  maxMatches: v.optional(bound(DEFAULT_SEARCH_MATCHES, MAX_ANSWER_ENTRIES), DEFAULT_SEARCH_MATCHES),
  maxTraversalEntries: v.optional(bound(0), 0),
});

type SearchArguments = v.InferOutput<typeof SearchSchema>;

interface Match extends LineMatch {
  /** Relative to the directory searched. */
  filePath: string;
}

export const filesSearch = defineTool('dirPath', SearchSchema, search);

async function search(asked: SearchArguments, context: ToolContext): Promise<ToolAnswer> {
  if (asked.query === '') throw new BurrowError('query_required');
  const dirPath = resolvePath(context, asked.dirPath);
  const completeness = createCompleteness();
  const matches = await collectMatches(dirPath, asked, context, completeness);
  const fields = { dirPath, query: asked.query, matches, ...completeness.fields() };
  return { fields, warnings: completeness.warnings() };
}

async function collectMatches(
  dirPath: string,
  asked: SearchArguments,
  context: ToolContext,
  completeness: Completeness,
): Promise<Match[]> {
  const matches: Match[] = [];
  if (asked.query.includes('\n')) {
    completeness.note('Query holds a line feed: lines are searched one by one, so nothing can match');
    return matches;
  }
  const limit = createAnswerLimit();
  const scanner = createLineScanner(Buffer.from(asked.query));
  const slices = createSlices(context.clock, context.signal);
  const bounds = findBounds(asked, context);
  let isFull = false;
  for await (const batch of walk(dirPath, bounds, completeness)) {
    for (const entry of batch) {
      await slices.pass();
      if (entry.type === 'other') completeness.specialFileSkipped(entry.path);
      if (entry.type === 'file') await searchEntry(entry);
      if (isFull) return matches;
    }
  }
  return matches;

  async function searchEntry(entry: WalkEntry): Promise<void> {
    const { location } = entry;
    const onMatch = (match: LineMatch): boolean => addMatch(entry.path, match);
    try {
      await searchFile({ location, scanner, slices, onMatch }, bounds.canHang(location.toString()));
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === undefined) throw error;
      completeness.unreadableFile(entry.path, errno);
    }
  }

  function addMatch(filePath: string, match: LineMatch): boolean {
    isFull = matches.length >= asked.maxMatches;
    if (isFull) {
      completeness.resultLimitReached(asked.maxMatches);
      return false;
    }
    limit.add(match.text);
    matches.push({ filePath, ...match });
    return true;
  }
}
