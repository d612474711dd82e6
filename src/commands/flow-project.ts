// Which project and which workflow a `burrow flow` command means.

import { findProject, type LoadedProject, loadProject, type Project } from '../octonode/project/project.ts';
import { nearest, UsageError } from './command.ts';
import { usableProject } from './project-problems.ts';
import type { System } from './system.ts';

/** Throws UsageError when there is no project in the current directory or above it. */
export async function projectAround(system: System): Promise<LoadedProject> {
  const path = usableProject(findProject(system.cwd));
  if (path === undefined)
    throw new UsageError('No .octonode is in this directory or above it', 'Make one: burrow scan');
  return loadProject(path);
}

/** The index of a workflow; throws UsageError when the project has none of that id. */
export function workflowIndex(project: Project, id: string): number {
  const ids = (project.content.workflows ?? []).map((workflow) => workflow.id);
  const index = ids.indexOf(id);
  if (index !== -1) return index;
  const near = nearest(id, ids);
  const known = ids.length === 0 ? 'It has no workflows' : `Workflows: ${ids.join(', ')}`;
  throw new UsageError(
    `Workflow "${id}" is not in "${project.path}"`,
    near === undefined ? known : `Did you mean "${near}"?`,
  );
}
