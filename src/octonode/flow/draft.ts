// A workflow while it is being read: what every check works on, and where it puts what it finds.

import type { NodeEntry, NodeRuntime, ProjectPath } from '../project/project.ts';

/** Collects what is wrong, each with its place below the workflow. */
export interface Findings {
  add(path: ProjectPath, message: string): void;
}

/** The step as far as it could be read: an unknown node does not hide what is wrong with the edges. */
export interface DraftStep {
  id: string;
  target: string;
  runtime: NodeRuntime;
  entry: NodeEntry | undefined;
}

export interface Steps {
  drafts: readonly DraftStep[];
  /** Index by id. */
  positions: ReadonlyMap<string, number>;
}
