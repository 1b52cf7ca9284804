import { parse } from 'yaml'
import { buildGithubWorkflows, buildGitlabPipeline } from '../../src/cli/init/workflows.ts'
import { collectVariables } from '../../src/cli/init/workflow-variables.ts'

const commit = '0123456789abcdef0123456789abcdef01234567'

/** Step of a workflow. */
export interface Step {
  id?: string
  if?: string
  uses?: string
  run?: string
  with?: Record<string, string>
  env?: Record<string, string>
}
/** Job of a workflow for GitHub. */
export interface Job {
  name?: string
  if?: string
  needs?: string
  permissions: Record<string, string>
  outputs?: Record<string, string>
  'timeout-minutes': number
  environment?: string
  steps: Step[]
}
/** Workflow for GitHub. */
export interface Workflow {
  name: string
  on: Record<string, unknown>
  permissions: object
  concurrency?: { group: string; 'cancel-in-progress': boolean }
  jobs: Record<string, Job>
}
/** Job of a pipeline for GitLab. */
export interface PipelineJob {
  image?: { name: string }
  variables?: Record<string, string>
  extends?: string
  needs?: string[]
  environment?: string
  resource_group?: string
  rules: { if: string; changes?: string[]; when?: string }[]
  script: string[]
  artifacts?: { paths: string[] }
}

export const pinnedAction = `team/edgewise@${commit}`
export const pinnedImage = `images.example.com/team/edgewise@sha256:${'0123456789abcdef'.repeat(4)}`

/** Builds the workflows for GitHub, by path. */
export function buildGithub(workspace = '.', branch = 'main'): Record<string, string> {
  return buildGithubWorkflows(
    { host: 'github', reference: pinnedAction },
    { workspace, branch },
    collectVariables({}, 'github').variables,
  )
}

/** Builds and parses a workflow for GitHub: `plan`, `apply`, `drift` or `operate`. */
export function parseGithub(kind: string, workspace = '.'): Workflow {
  const files = Object.entries(buildGithub(workspace))
  return parse(files.find(([path]) => path.endsWith(`-${kind}.yml`))?.[1] ?? '') as Workflow
}

/** Builds the pipeline for GitLab. */
export function buildGitlab(workspace = '.'): string {
  return buildGitlabPipeline(
    { host: 'gitlab', reference: pinnedImage },
    { workspace, branch: 'main' },
    collectVariables({}, 'gitlab').variables,
  )
}

/** Builds and parses the pipeline for GitLab. */
export function parseGitlab(workspace = '.'): Record<string, PipelineJob> {
  return parse(buildGitlab(workspace)) as Record<string, PipelineJob>
}
