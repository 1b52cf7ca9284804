import {
  explainedCheckoutStep,
  formatPublication,
  formatUpload,
  temp,
  type GithubParts,
} from './github-parts.ts'
import { formatScalar, quotePath } from './placement.ts'

/** Builds the workflow that plans pull requests. */
export function buildGithubPlan(parts: GithubParts): string {
  const { name, paths, pathOf, run, origin, workspace, env } = parts
  const pathspecs = paths[0] === '.' ? '.' : [...paths, pathOf('plan')].map(quotePath).join(' ')
  return `# Plans each pull request: the plan is in the summary of the run, and in one comment.
#
# The check "${name} plan" may be required: it passes at once if a pull request changes no file
# of the workspace. A pull request from a fork gets no token that may write, so no comment.
${origin}
name: ${name} plan
on:
  pull_request:
  merge_group:
permissions: {}
concurrency:
  group: ${name}-plan-\${{ github.event.pull_request.number || github.ref }}
  cancel-in-progress: true
jobs:
  plan:
    name: ${name} plan
    runs-on: ubuntu-latest
    timeout-minutes: 15
    permissions:
      contents: read
    outputs:
      changed: \${{ steps.changes.outputs.changed }}
      page: \${{ steps.page.outputs.artifact-url }}
    steps:
      ${explainedCheckoutStep}
      - id: changes
        name: Find changes of the workspace
        env:
          # Without a merge queue, HEAD merges the pull request into the base branch.
          BASE: \${{ github.event.merge_group.base_sha || 'HEAD^1' }}
        run: |
          if git diff --quiet "$BASE" HEAD -- ${pathspecs}; then
            echo 'changed=false' >> "$GITHUB_OUTPUT"
            echo 'No file of the workspace changes. Nothing to plan.' | tee "$GITHUB_STEP_SUMMARY"
          else
            echo 'changed=true' >> "$GITHUB_OUTPUT"
          fi
      - if: steps.changes.outputs.changed == 'true'
        ${run('plan')}
          workspace: ${formatScalar(workspace)}
          report: ${temp}/edgewise.md
          html: ${temp}/edgewise.html
${env}      - if: steps.changes.outputs.changed == 'true'
        ${formatUpload(`${name}-plan`, 'edgewise.md', 7)}
      # All changes as a page, to which the comment links. It has the configuration of the domains:
      # whoever can read the repository can read it.
      - id: page
        if: steps.changes.outputs.changed == 'true'
        ${formatUpload(`${name}-plan-page`, 'edgewise.html', 7)}
  comment:
    # Only this job has a token that may write, and it has no files of the pull request.
    if: >-
      needs.plan.outputs.changed == 'true' &&
      github.event.pull_request.head.repo.full_name == github.repository
    needs: plan
${formatPublication(parts, {
  command: 'comment',
  permission: 'pull-requests',
  artifact: `${name}-plan`,
  inputs: '          page-url: ${{ needs.plan.outputs.page }}\n',
})}`
}
