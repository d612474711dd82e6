// `burrow flow check`: everything that is wrong with the workflows of a project, at once. Nothing is started.

import { checkWorkflow } from '../octonode/flow/flow.ts';
import type { ProjectProblem } from '../octonode/project/project.ts';
import type { Call, Command } from './command.ts';
import { projectAround, workflowIndex } from './flow-project.ts';
import { EXIT } from './system.ts';

export const flowCheckCommand: Command = {
  meta: {
    name: 'check',
    description: 'Print every mistake in the workflows of .octonode; exit 1 when there is one',
  },
  args: {
    id: { type: 'positional', description: 'A workflow (default: all)', required: false, valueHint: 'ID' },
    json: { type: 'boolean', description: 'Print the findings as one JSON line' },
  },
  examples: [
    { command: 'burrow flow check', does: 'check every workflow' },
    { command: 'burrow flow check orders --json', does: 'print the findings of one for a program' },
  ],
  run: check,
};

async function check(call: Call): Promise<number> {
  const { system, flags, positionals } = call;
  const loaded = await projectAround(system);
  const path = loaded.status === 'ok' ? loaded.project.path : loaded.path;
  const { problems, checked } =
    loaded.status === 'ok' ? findings(loaded.project, positionals[0]) : { ...loaded, checked: [] };
  const isGood = problems.length === 0;
  if (flags.json === true) {
    system.stdout.write(`${JSON.stringify({ project: path, ok: isGood, workflows: checked, problems })}\n`);
  } else {
    for (const { line, column, message } of problems)
      system.stdout.write(`${path}:${line}:${column}: ${message}\n`);
    if (isGood) for (const { id, nodes } of checked) system.stdout.write(`ok  ${id}  ${nodes} nodes\n`);
  }
  return isGood ? EXIT.done : EXIT.failed;
}

interface Findings {
  problems: ProjectProblem[];
  checked: { id: string; nodes: number }[];
}

function findings(project: Parameters<typeof checkWorkflow>[0], id: string | undefined): Findings {
  const workflows = project.content.workflows ?? [];
  const chosen = id === undefined ? [...workflows.keys()] : [workflowIndex(project, id)];
  const found = chosen.map((index) => checkWorkflow(project, index));
  const problems = found.flatMap((checked) => (checked.status === 'refused' ? checked.problems : []));
  // What is wrong with the project is found again with each workflow.
  const unique = new Map(problems.map((problem) => [JSON.stringify(problem), problem]));
  return {
    problems: [...unique.values()],
    checked: chosen.map((index) => ({
      id: workflows[index]?.id ?? '',
      nodes: workflows[index]?.nodes.length ?? 0,
    })),
  };
}
