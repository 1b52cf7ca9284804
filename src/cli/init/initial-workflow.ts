/** Edgewise at a commit: a repository of the code host that holds it and its action. */
export interface PinnedAction {
  /** `OWNER/REPO`. */
  repository: string
  /** 40 hex digits, in small letters. */
  commit: string
}

/** Where the action lies in the repository of Edgewise. */
const actionFolder = '.github/actions/edgewise'

// Pinned by commit: a tag can be moved to other code, which would run beside the token.
const checkout = 'actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0'
const setupNode = 'actions/setup-node@49933ea5288caeca8642d1e84afbd3f7d6820020 # v4.4.0'

/** Reads `OWNER/REPO@SHA`; null where the text is anything else, such as a tag. */
export function parseAction(text: string): PinnedAction | null {
  const owner = '[A-Za-z0-9][A-Za-z0-9_-]{0,38}'
  const repository = String.raw`(?!\.{1,2}@)[A-Za-z0-9._-]{1,100}`
  const match = new RegExp(`^(${owner}/${repository})@([0-9a-fA-F]{40})$`).exec(text)
  if (match?.[1] === undefined || match[2] === undefined) return null
  return { repository: match[1], commit: match[2].toLowerCase() }
}

/** The workflow of a new workspace. Everything that it runs is named by its commit. */
export function buildWorkflow({ repository, commit }: PinnedAction): string {
  const edgewise = `${repository}/${actionFolder}@${commit}`
  const program = 'node ${{ runner.temp }}/edgewise/dist/cli/main.js'
  const build = `      # Edgewise is built before the manifests are there, and lies outside of their checkout:
      # no file of a pull request decides what runs.
      - uses: ${checkout}
        with: {repository: ${repository}, ref: '${commit}', path: edgewise, persist-credentials: false}
      - uses: ${setupNode}
        with: {node-version: 24}
      - run: npm ci --ignore-scripts && npm run --silent build && mv "$PWD" "$RUNNER_TEMP/edgewise"
        working-directory: edgewise
      # With all branches, since the state is kept on one of them.
      - uses: ${checkout}
        with: {fetch-depth: 0}`
  return `# Checks and plans every pull request; applies what is merged.
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
${build}
      - run: node "$RUNNER_TEMP/edgewise/dist/cli/main.js" fmt --check
      - uses: ${edgewise}
        with:
          command: plan
          program: ${program}
  apply:
    if: github.event_name == 'push'
    runs-on: ubuntu-latest
    timeout-minutes: 360
    # The state is a branch of this repository: what is applied is pushed there.
    permissions: {contents: write}
    # One after another; an apply that began is never cut off by the next one.
    concurrency: {group: edgewise-apply, cancel-in-progress: false}
    steps:
${build}
      - id: plan
        uses: ${edgewise}
        with:
          command: plan
          program: ${program}
      - if: steps.plan.outputs.differs == 'true'
        uses: ${edgewise}
        with:
          command: apply
          program: ${program}
        env: {EDGEWISE_TOKEN: '\${{ secrets.EDGEWISE_TOKEN }}'}
`
}
