import { readPackageFile } from '../package-files.ts'
import type { Pin } from './choose-pin.ts'
import {
  buildSuffix,
  formatScalar,
  quotePath,
  type Placement,
  findPlacement,
  loadContent,
} from './find-placement.ts'
import { type Variables, collectVariables } from './workflow-variables.ts'
import { join } from 'node:path'
import { exists } from '../../files/look.ts'
import { codeOwnersFiles } from '../../manifest/workspace-file/file-kinds.ts'
import { escapeInvisible } from '../../outlets/report/text/escape-invisible.ts'

/** Values for the places of a template, some with a word such as the name of a file. */
type Values = Record<string, string | ((word: string) => string)>

/**
 * Fills a template: `<<name>>` and `<<name word>>`. A line that consists of a place alone is left
 * out if its value is empty.
 */
function fill(template: string, values: Values): string {
  const find = (name: string, word: string): string => {
    const value = values[name]
    if (value === undefined) throw new TypeError(`expected a value for <<${name}>>`)
    return typeof value === 'string' ? value : value(word)
  }
  return readPackageFile(`examples/templates/${template}.yml`)
    .replaceAll(/^<<(\w+)>>\n/gm, (_, name: string) => {
      const value = find(name, '')
      return value === '' ? '' : `${value}\n`
    })
    .replaceAll(/<<(\w+)(?: ([\w.]+))?>>/g, (_, name: string, word = '') => find(name, word))
}

/** Builds the workflows for GitHub, by path from the top folder of the repository. */
export function buildGithubWorkflows(
  { reference }: Pin,
  { workspace, branch }: Placement,
  { secrets, common, database, reading }: Variables,
): Record<string, string> {
  const name = `edgewise${buildSuffix(workspace)}`
  const pathOf = (kind: string) => `.github/workflows/${name}-${kind}.yml`
  const isWhole = workspace === '.'
  const globs = [`${workspace}/**`, ...codeOwnersFiles, pathOf('apply')].map(formatScalar)
  const lines = formatEnv(common, 'vars') + formatEnv(database, 'secrets')
  const driftLines = lines + formatEnv(reading ?? [], 'secrets')
  const applyLines = formatEnv(common, 'vars') + formatEnv([...database, ...secrets], 'secrets')
  const env = (before: string, own: string) => `        env:${before}${own}`
  const values: Values = {
    name,
    reference,
    workspace: formatScalar(workspace),
    branch: formatScalar(branch),
    // Some characters of branch names are special in a filter.
    filterBranch: formatScalar(branch.replaceAll(/\+|^!/g, String.raw`\$&`)),
    filter: isWhole ? '' : `    paths:${globs.map((glob) => `\n      - ${glob}`).join('')}`,
    pathspecs: formatPathspecs(workspace, pathOf('plan')),
    env: lines === '' ? '' : env('', lines),
    applyEnv: applyLines === '' ? `        # env:${addSecretHere}` : env(addSecretHere, applyLines),
    driftEnv: driftLines === '' ? '' : env('', driftLines),
    driftArgs: reading === null ? '' : '          args: --live',
    driftEnvironment: reading === null ? '' : '    environment: drift',
    secrets: formatNames(secrets),
    others: formatSteps(4, [
      [
        common,
        'Store these as variables of the repository (Secrets and variables > Actions), not as\n' +
          '#    secrets, since every job needs them:',
      ],
      [
        database,
        'Store these as secrets of the repository with a user of the database who may only\n' +
          '#    read, and in the environment with one who may write. Pull requests from forks\n' +
          '#    get none, so their plan fails:',
      ],
      [reading ?? [], readingStep],
    ]),
  }
  const kinds = ['plan', 'apply', 'drift', 'operate']
  return Object.fromEntries(kinds.map((kind) => [pathOf(kind), fill(`github-${kind}`, values)]))
}

const readingStep =
  'Store these in an environment "drift" too, for this branch only and without reviewers: its\n' +
  '#    job reads what the service has.'

const addSecretHere =
  '\n          # Add a line here, and in no other job, for each variable of "secrets" in ' +
  'edgewise.yaml.'

/** Builds the pipeline for GitLab; the project has to define the variables of the jobs. */
export function buildGitlabPipeline(
  { reference }: Pin,
  { workspace }: Placement,
  { secrets, common, database, reading }: Variables,
): string {
  const folder = workspace === '.' ? '.edgewise' : `${workspace}/.edgewise`
  const paths = [`${workspace}/**/*`, ...codeOwnersFiles]
  const globs = paths.map((glob) => `\n        - ${formatScalar(glob)}`)
  return fill('gitlab', {
    name: `edgewise${buildSuffix(workspace)}`,
    reference,
    at: workspace === '.' ? '' : ` -C ${quotePath(workspace)}`,
    file: (name) => quotePath(name === '' ? folder : `${folder}/${name}`),
    artifact: (name) => formatScalar(`${folder}/${name}`),
    action: `EDGEWISE_ACTION${buildSuffix(workspace).toUpperCase().replaceAll(/\W/g, '_')}`,
    pathspecs: formatPathspecs(workspace),
    driftArgs: reading === null ? '' : ' --live',
    driftEnvironment: reading === null ? '' : '  environment:\n    name: drift\n    action: access',
    changes: workspace === '.' ? '' : `      changes:${globs.join('')}`,
    secrets: formatNames(secrets),
    others: formatSteps(5, [
      [
        common,
        'Store these as variables of the project, neither protected nor of one environment,\n' +
          '#    since every job needs them:',
      ],
      [
        database,
        'Store these as masked variables of the project with a user of the database who may\n' +
          '#    only read, and as protected ones of that environment with one who may write:',
      ],
      [reading ?? [], readingStep],
    ]),
  })
}

/**
 * Formats the places of all files that a workspace may have: its globs, which a commit may change,
 * lead out of no folder.
 */
function formatPathspecs(workspace: string, ...others: string[]): string {
  const paths = workspace === '.' ? ['.'] : [workspace, ...codeOwnersFiles, ...others]
  return paths.map(quotePath).join(' ')
}

/** Formats names as lines that follow a step in a comment. */
function formatNames(names: string[]): string {
  return names.map((name) => `#    - ${name}`).join('\n')
}

/** Formats further steps in a comment, each with the variables that it is about. */
function formatSteps(first: number, steps: [names: string[], text: string][]): string {
  return steps
    .filter(([names]) => names.length > 0)
    .map(([names, text], i) => `# ${first + i}. ${text}\n${formatNames(names)}`)
    .join('\n')
}

/** Formats the lines of `env` that pass variables or secrets of GitHub. */
function formatEnv(names: string[], source: 'vars' | 'secrets'): string {
  return names
    .map((name) => `\n          ${formatScalar(name)}: \${{ ${source}.${name} }}`)
    .join('')
}

/** Files of a workflow, and what to print about them. */
interface Workflow {
  /** Top folder of the repository. */
  top: string
  /** Texts by path from there. */
  files: Record<string, string>
  /** The runs and their times, and the place of the remaining steps. */
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
