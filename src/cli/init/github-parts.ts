import type { Pin } from './pin.ts'
import { buildSuffix, formatScalar, type Placement } from './placement.ts'
import type { Variables } from './workflow-variables.ts'

// Pinned by commit: a tag can be moved to other code.
export const checkout = 'actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0'
export const upload = 'actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02 # v4.6.2'
export const download =
  'actions/download-artifact@d3f86a106a0bac45b974a628896c90dbdf5c8093 # v4.3.0'

/** Folder of the runner for temporary files, outside of the checkout. */
export const temp = '${{ runner.temp }}'

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
  return {
    ...placement,
    ...variables,
    env:
      variables.common.length === 0
        ? ''
        : `        env:\n${formatEnvLines(variables.common, 'vars')}`,
    name,
    run: (command) =>
      `uses: ${reference}
        with:
          command: ${command}`,
    pathOf: (kind) => `.github/workflows/${name}-${kind}.yml`,
    origin: `# Written by "edgewise init --ci github --action ${reference}".`,
  }
}

/** Formats the lines of `env` that pass variables or secrets of GitHub. */
export function formatEnvLines(names: string[], source: 'vars' | 'secrets'): string {
  return names
    .map((name) => `          ${formatScalar(name)}: \${{ ${source}.${name} }}\n`)
    .join('')
}
