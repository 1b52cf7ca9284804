import { join } from 'node:path'
import { exists } from '../../files/look.ts'
import { escapeInvisible } from '../../report/text/escape-invisible.ts'
import { findPlacement, loadContent } from './find-placement.ts'
import { buildGithubWorkflows } from './github-workflows.ts'
import { buildGitlabPipeline } from './gitlab-pipeline.ts'
import type { Pin } from './pin.ts'
import { buildSuffix } from './placement.ts'
import { collectVariables } from './workflow-variables.ts'

/** Files of a workflow, and what to print about them. */
export interface Workflow {
  /** Top folder of the repository. */
  top: string
  /** Texts by path from there. */
  files: Record<string, string>
  /** What runs when, and where the remaining steps are described. */
  note: string
}

/** Builds the workflow of a workspace for its repository, which git describes. */
export async function planWorkflow(
  pin: Pin,
  root: string,
  env: Record<string, string | undefined>,
): Promise<Workflow> {
  const { top, ...placement } = await findPlacement(root, env)
  const { variables, note } = collectVariables(loadContent(root), pin.host)
  if (pin.host === 'github') {
    const files = buildGithubWorkflows(pin, placement, variables)
    const setup = Object.keys(files).find((path) => path.endsWith('-apply.yml')) ?? ''
    const branch = escapeInvisible(placement.branch)
    const events = `Pull requests are planned; what is merged to "${branch}" is applied.`
    const steps = `First follow the steps at the top of ${setup}.`
    return { top, files, note: `${events}\n${steps}\n${note}` }
  }
  // A repository has one such file; others can be included in it.
  const main = '.gitlab-ci.yml'
  const isIncluded = exists(join(top, main))
  const path = isIncluded ? `.gitlab/edgewise${buildSuffix(placement.workspace)}.yml` : main
  const events = 'Merge requests are planned; what is merged to the default branch is applied.'
  const include = isIncluded
    ? `${main} already exists. Add these lines to it:\n  include:\n    - local: ${path}\n`
    : ''
  return {
    top,
    files: { [path]: buildGitlabPipeline(pin, placement, variables) },
    note: `${include}${events}\nFirst follow the steps at the top of ${path}.\n${note}`,
  }
}
