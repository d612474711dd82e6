// What an answer leaves out and why: the completeness fields shared by list, find and search.

/** Warnings kept in one answer. A tree with more trouble than this says how much more. */
const MAX_WARNINGS = 1_000;

interface CompletenessFields {
  truncated: boolean;
  depthTruncated: boolean;
  entryBudgetExhausted: boolean;
  /** Something that belongs to the answer is missing: a bound was hit or something could not be read. */
  incomplete: boolean;
}

export interface Completeness {
  depthTruncated(maxDepth: number): void;
  isDepthTruncated(): boolean;
  entryBudgetExhausted(maxEntries: number): void;
  resultLimitReached(limit: number): void;
  unreadableDirectory(path: string, errno: string): void;
  unreadableFile(path: string, errno: string): void;
  /** Special files are left out of a search; that is worth a note, but nothing of the answer is missing. */
  specialFileSkipped(path: string): void;
  nameNotUtf8(path: string): void;
  note(sentence: string): void;
  fields(): CompletenessFields;
  warnings(): string[];
}

export function createCompleteness(): Completeness {
  const warnings: string[] = [];
  /** One sentence per bound, behind the warnings of single paths. */
  const bounds: string[] = [];
  let leftOut = 0;
  let unreadable = false;
  let depth = false;
  let budget = false;

  function warn(text: string): void {
    if (warnings.length < MAX_WARNINGS) warnings.push(text);
    else leftOut += 1;
  }

  return {
    depthTruncated(maxDepth) {
      if (!depth) bounds.push(`Depth limit of ${maxDepth} reached: some directories were not entered`);
      depth = true;
    },
    isDepthTruncated: () => depth,
    entryBudgetExhausted(maxEntries) {
      budget = true;
      bounds.push(`Entry budget of ${maxEntries} reached: some entries were not visited`);
    },
    resultLimitReached: (limit) =>
      bounds.push(`Result limit of ${limit} reached: some matches were not returned`),
    unreadableDirectory(path, errno) {
      unreadable = true;
      warn(`unreadable_directory:${path}:${errno}`);
    },
    unreadableFile(path, errno) {
      unreadable = true;
      warn(`unreadable_file:${path}:${errno}`);
    },
    specialFileSkipped: (path) => warn(`special_file_skipped:${path}`),
    nameNotUtf8: (path) => warn(`name_not_utf8:${path}`),
    note: warn,
    fields() {
      const truncated = bounds.length > 0;
      return {
        truncated,
        depthTruncated: depth,
        entryBudgetExhausted: budget,
        incomplete: truncated || unreadable,
      };
    },
    warnings() {
      const rest = leftOut === 0 ? [] : [`${leftOut} more warnings were left out`];
      return [...warnings, ...rest, ...bounds];
    },
  };
}
