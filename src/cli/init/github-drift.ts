import {
  explainedCheckoutStep,
  formatPublication,
  formatUpload,
  temp,
  type GithubParts,
} from './github-parts.ts'
import { formatScalar } from './placement.ts'

/** Builds the workflow that detects drift. */
export function buildGithubDrift(parts: GithubParts): string {
  const { name, run, origin, workspace, env } = parts
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
      ${explainedCheckoutStep}
      - id: drift
        ${run('drift')}
          workspace: ${formatScalar(workspace)}
          report: ${temp}/edgewise.md
${env}      - ${formatUpload(`${name}-drift`, 'edgewise.md', 7)}
  issue:
    needs: drift
${formatPublication(parts, {
  command: 'issue',
  permission: 'issues',
  artifact: `${name}-drift`,
  inputs: '          differs: ${{ needs.drift.outputs.differs }}\n',
})}`
}
