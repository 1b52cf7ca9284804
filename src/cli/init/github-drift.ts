import { checkout, download, temp, upload, type GithubParts } from './github-parts.ts'
import { formatScalar } from './placement.ts'

/** Builds the workflow that detects drift. */
export function buildGithubDrift({ name, run, origin, workspace, env }: GithubParts): string {
  return `# Detects drift between manifests, state and service four times a day. One issue is open
# while there is drift. To compare the service itself, pass the input "observed" to the first
# job: a program of the runner that can query it.
${origin}
name: ${name} drift
on:
  schedule:
    - cron: 17 */6 * * *
  workflow_dispatch:
permissions: {}
concurrency:
  group: ${name}-drift
  cancel-in-progress: false
jobs:
  drift:
    name: ${name} drift
    runs-on: ubuntu-latest
    timeout-minutes: 30
    permissions:
      contents: read
    outputs:
      differs: \${{ steps.drift.outputs.differs }}
    steps:
      # With all branches, because state is on one of them.
      - uses: ${checkout}
        with:
          fetch-depth: 0
      - id: drift
        ${run('drift')}
          workspace: ${formatScalar(workspace)}
          report: ${temp}/edgewise.md
${env}      - uses: ${upload}
        with:
          name: ${name}-drift
          path: ${temp}/edgewise.md
          retention-days: 7
          if-no-files-found: error
          overwrite: true
  issue:
    needs: drift
    runs-on: ubuntu-latest
    timeout-minutes: 5
    permissions:
      contents: read
      issues: write
    steps:
      - uses: ${download}
        with:
          name: ${name}-drift
          # In a folder of its own: the files of an artifact replace others.
          path: ${temp}/report
      - ${run('issue')}
          workspace: ${formatScalar(workspace)}
          report: ${temp}/report/edgewise.md
          differs: \${{ needs.drift.outputs.differs }}
          code-host-token: \${{ github.token }}
`
}
