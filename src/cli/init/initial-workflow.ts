/** Repository of Edgewise on the code host, at a commit. */
export interface PinnedAction {
  /** `OWNER/REPO`. */
  repository: string
  /** 40 lower-case hex digits. */
  commit: string
}

// Pinned by commit: a tag can be moved to other code, which would run with access to the token.
const checkout = 'actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0'

/** Parses `OWNER/REPO@SHA`; null for any other text, such as a tag. */
export function parseAction(text: string): PinnedAction | null {
  const owner = '[A-Za-z0-9][A-Za-z0-9_-]{0,38}'
  const repository = String.raw`(?!\.{1,2}@)[A-Za-z0-9._-]{1,100}`
  const match = new RegExp(`^(${owner}/${repository})@([0-9a-fA-F]{40})$`).exec(text)
  if (match?.[1] === undefined || match[2] === undefined) return null
  return { repository: match[1], commit: match[2].toLowerCase() }
}

/** Builds the workflow of a new workspace. Everything that it runs is pinned by commit. */
export function buildWorkflow({ repository, commit }: PinnedAction): string {
  const edgewise = `${repository}@${commit}`
  const steps = `      # With all branches, because state is on one of them.
      - uses: ${checkout}
        with: {fetch-depth: 0}`
  return `# Checks and plans every pull request; applies merged changes.
#
# A pull request that changes this file decides what its own run does: whoever may push a branch to
# this repository can use its secrets. To prevent that, move EDGEWISE_TOKEN to an environment of the
# job apply that only the branch main may use.
# Written by "edgewise init --action ${repository}@${commit}".
name: edgewise
on:
  pull_request:
  push: {branches: [main]}
permissions: {contents: read}
jobs:
  plan:
    if: github.event_name == 'pull_request'
    runs-on: ubuntu-latest
    timeout-minutes: 15
    permissions: {contents: read}
    steps:
${steps}
      - uses: ${edgewise}
        with: {command: fmt, args: --check}
      - uses: ${edgewise}
        with:
          command: plan
  apply:
    if: github.event_name == 'push'
    runs-on: ubuntu-latest
    timeout-minutes: 360
    # State is a branch of this repository; apply pushes to it.
    permissions: {contents: write}
    # One after another; a running apply is never cancelled by the next one.
    concurrency: {group: edgewise-apply, cancel-in-progress: false}
    steps:
${steps}
      - id: plan
        uses: ${edgewise}
        with:
          command: plan
      - if: steps.plan.outputs.differs == 'true'
        uses: ${edgewise}
        with:
          command: apply
        env: {EDGEWISE_TOKEN: '\${{ secrets.EDGEWISE_TOKEN }}'}
`
}
