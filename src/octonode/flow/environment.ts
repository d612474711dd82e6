// The environment that a flow runs in: variables with inheritance, and secrets that come from the caller's environment
// and from nowhere else. The file names secrets; it never holds one.

import type { Project, ProjectEnvironment, ProjectProblem } from '../project/project.ts';

export interface FlowEnvironment {
  name: string | undefined;
  vars: Readonly<Record<string, unknown>>;
  /** Name in the node's environment, and the value. */
  secrets: ReadonlyMap<string, string>;
}

export type ResolvedEnvironment =
  | { status: 'ok'; environment: FlowEnvironment }
  | { status: 'refused'; problems: ProjectProblem[] };

const VARIABLE_NAME = /^[^=\0]+$/;
const REFERENCE = /^\$\{?([^${}=\0]+)\}?$/;

/** Unknown parents, circles and names that no environment can hold, in any environment of the project. */
export function checkEnvironments(project: Project): ProjectProblem[] {
  const problems: ProjectProblem[] = [];
  for (const [name, environment] of Object.entries(project.content.environments ?? {})) {
    const complain = (key: string, message: string): void =>
      void problems.push({
        ...project.locate(['environments', name, key]),
        message: `Environment "${name}": ${message}`,
      });
    for (const parent of parentsOf(environment))
      if (environmentOf(project, parent) === undefined) complain('inherits', `"${parent}" does not exist`);
    const circle = findCircle(project, name, []);
    if (circle !== undefined) complain('inherits', `Cycle: ${circle.join(' → ')}`);
    const names = [...Object.keys(environment?.vars ?? {}), ...secretNames(environment).keys()];
    for (const variable of names)
      if (!VARIABLE_NAME.test(variable)) complain('vars', `"${variable}" cannot be the name of a variable`);
  }
  return problems;
}

/** `name` undefined: the environment called `default`, or an empty one. The environments must have been checked. */
export function resolveEnvironment(
  project: Project,
  name: string | undefined,
  callerEnv: Readonly<Record<string, string | undefined>>,
): ResolvedEnvironment {
  const own = name ?? (environmentOf(project, 'default') === undefined ? undefined : 'default');
  if (own === undefined)
    return { status: 'ok', environment: { name: undefined, vars: {}, secrets: new Map() } };
  const vars: Record<string, unknown> = Object.create(null);
  const wanted = new Map<string, string>();
  collect(project, own, { vars, wanted });
  const secrets = new Map<string, string>();
  const problems: ProjectProblem[] = [];
  for (const [secret, variable] of wanted) {
    const value = callerEnv[variable];
    if (value !== undefined && value !== '') secrets.set(secret, value);
    else {
      // Only the name that the file gives is told: a value that was put there by mistake is a secret all the same.
      const message = `Environment "${own}": Secret "${secret}" is not set in the environment of the caller`;
      problems.push({ ...project.locate(['environments', own]), message });
    }
  }
  if (problems.length > 0) return { status: 'refused', problems };
  return { status: 'ok', environment: { name: own, vars, secrets } };
}

function collect(
  project: Project,
  name: string,
  into: { vars: Record<string, unknown>; wanted: Map<string, string> },
): void {
  const environment = environmentOf(project, name);
  for (const parent of parentsOf(environment)) collect(project, parent, into);
  for (const [key, value] of Object.entries(environment?.vars ?? {})) into.vars[key] = value;
  for (const [secret, variable] of secretNames(environment)) into.wanted.set(secret, variable);
}

function environmentOf(project: Project, name: string): ProjectEnvironment | undefined {
  const environments = project.content.environments ?? {};
  return Object.hasOwn(environments, name) ? (environments[name] ?? {}) : undefined;
}

function parentsOf(environment: ProjectEnvironment | null | undefined): string[] {
  return [environment?.inherits ?? []].flat();
}

/** Name in the node's environment, and the variable of the caller. */
function secretNames(environment: ProjectEnvironment | null | undefined): Map<string, string> {
  const secrets = environment?.secrets ?? [];
  if (Array.isArray(secrets)) return new Map(secrets.map((name) => [name, name]));
  return new Map(Object.entries(secrets).map(([name, from]) => [name, REFERENCE.exec(from)?.[1] ?? from]));
}

function findCircle(project: Project, name: string, trail: readonly string[]): string[] | undefined {
  if (trail.includes(name)) return name === trail[0] ? [...trail, name] : undefined;
  for (const parent of parentsOf(environmentOf(project, name))) {
    const circle = findCircle(project, parent, [...trail, name]);
    if (circle !== undefined) return circle;
  }
  return undefined;
}
