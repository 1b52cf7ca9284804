import type { Pin } from './pin.ts'
import { buildSuffix, formatScalar, type Placement } from './placement.ts'
import type { Variables } from './workflow-variables.ts'

// Pinned by commit: a tag can be moved to other code.
const checkout = 'actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0'
const upload = 'actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02 # v4.6.2'
const download = 'actions/download-artifact@d3f86a106a0bac45b974a628896c90dbdf5c8093 # v4.3.0'

/** Folder of the runner for temporary files, outside of the checkout. */
export const temp = '${{ runner.temp }}'

/** Step that checks out all branches, because state is on one of them. */
export const checkoutStep = `- uses: ${checkout}
        with:
          fetch-depth: 0`

/** {@link checkoutStep}, with its reason. */
export const explainedCheckoutStep = `# With all branches, because state is on one of them.
      ${checkoutStep}`

const downloadReason = `
          # In a folder of its own: the files of an artifact replace others.`

/** Parts of the workflows that depend on the repository. */
export interface GithubParts extends Placement {
  /** `edgewise`, with the folder of the workspace. */
  name: string
  /** `uses` of the action, with its first input. */
  run(command: string): string
  /** Path of a workflow, from the top folder. */
  pathOf(kind: string): string
  /** Names of the secrets of the step that applies. */
  secrets: string[]
  /** Names of the variables of every step. */
  common: string[]
  /** Names of the secrets of every step, which differ between jobs. */
  database: string[]
  /** `env` of the steps that don't apply; empty without a variable. */
  env: string
  /** Comment with the command that writes the workflow. */
  origin: string
}

export function createGithubParts(
  { reference }: Pin,
  placement: Placement,
  variables: Variables,
): GithubParts {
  const name = `edgewise${buildSuffix(placement.workspace)}`
  const { common, database } = variables
  const lines = formatEnvLines(common, 'vars') + formatEnvLines(database, 'secrets')
  return {
    ...placement,
    ...variables,
    env: lines === '' ? '' : `        env:\n${lines}`,
    name,
    run: (command) =>
      `uses: ${reference}
        with:
          command: ${command}`,
    pathOf: (kind) => `.github/workflows/${name}-${kind}.yml`,
    origin: `# Written by "edgewise init --ci github --action ${reference}".`,
  }
}

/**
 * Formats the upload of a file as an artifact: a step without its dash.
 *
 * @param file in the folder {@link temp}
 * @param days to keep it
 */
export function formatUpload(
  artifact: string,
  file: string,
  days: number,
  ifMissing: 'error' | 'ignore' = 'error',
): string {
  return `uses: ${upload}
        with:
          name: ${artifact}
          path: ${temp}/${file}
          retention-days: ${days}
          if-no-files-found: ${ifMissing}
          overwrite: true`
}

/** Formats the step that downloads an artifact into a folder of {@link temp}. */
export function formatDownload(artifact: string, folder: string, reason = downloadReason): string {
  return `- uses: ${download}
        with:
          name: ${artifact}${reason}
          path: ${temp}/${folder}`
}

/** Publication of a report by a job of its own, without files of the checkout. */
interface Publication {
  command: 'comment' | 'issue'
  /** Permission to write. */
  permission: 'pull-requests' | 'issues'
  /** Artifact with the report. */
  artifact: string
  /** Reason for the download's folder; absent: the default one. */
  reason?: string
  /** More inputs, one line each. */
  inputs?: string
}

/** Formats the body of the job that publishes a report. */
export function formatPublication(
  { run, workspace }: GithubParts,
  { command, permission, artifact, reason, inputs = '' }: Publication,
): string {
  return `    runs-on: ubuntu-latest
    timeout-minutes: 5
    permissions:
      contents: read
      ${permission}: write
    steps:
      ${formatDownload(artifact, 'report', reason)}
      - ${run(command)}
          workspace: ${formatScalar(workspace)}
          report: ${temp}/report/edgewise.md
${inputs}          code-host-token: \${{ github.token }}
`
}

/** Formats the lines of `env` that pass variables or secrets of GitHub. */
export function formatEnvLines(names: string[], source: 'vars' | 'secrets'): string {
  return names
    .map((name) => `          ${formatScalar(name)}: \${{ ${source}.${name} }}\n`)
    .join('')
}
