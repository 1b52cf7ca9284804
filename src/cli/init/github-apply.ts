import {
  checkoutStep,
  explainedCheckoutStep,
  formatDownload,
  formatEnvLines,
  formatPublication,
  formatUpload,
  temp,
  type GithubParts,
} from './github-parts.ts'
import { buildGlobs, formatNames, formatScalar } from './placement.ts'

/** Builds the workflow that applies merged changes. */
export function buildGithubApply(parts: GithubParts): string {
  const { name, branch, paths, pathOf, run, origin, workspace, env } = parts
  const { secrets } = parts
  const globs = buildGlobs([...paths, pathOf('apply')], '**')
  const list = globs.map((glob) => `      - ${formatScalar(glob)}\n`).join('')
  const filter = paths[0] === '.' ? '' : `    paths:\n${list}`
  return `# Applies merged changes. One job plans. Reviewers read the plan in the summary of the run
# and approve it. The next job applies exactly that plan, and refuses it if state or manifests
# have changed since. The report is in the summary and in a comment of the merged pull request.
#
# Before the first run:
# 1. Protect the branch: require reviews, also for .github/workflows.
# 2. Create the environment "production" with required reviewers, for this branch only.
# 3. Store the secrets of the apply step in that environment, not in the repository: runs of pull
#    requests can use the secrets of the repository.${formatNames(secrets)}${formatOthers(parts)}
${origin}
name: ${name} apply
on:
  push:
    branches:
      - ${formatBranch(branch)}
${filter}  workflow_dispatch:
permissions: {}
# One run after another; a running apply is never cancelled by the next one.
concurrency:
  group: ${name}-apply
  cancel-in-progress: false
jobs:
  plan:
    name: ${name} plan to apply
    runs-on: ubuntu-latest
    timeout-minutes: 15
    permissions:
      contents: read
    outputs:
      differs: \${{ steps.plan.outputs.differs }}
    steps:
      - name: Check the branch
        env:
          BRANCH: ${formatScalar(branch)}
        run: |
          if [ "$GITHUB_REF" != "refs/heads/$BRANCH" ]; then
            echo '::error::Only the branch of this workflow is applied. Run it on that branch.'
            exit 1
          elif [ "$GITHUB_REF_PROTECTED" != true ]; then
            echo '::error::The branch is not protected: protect it, and require reviews.'
            exit 1
          fi
      ${explainedCheckoutStep}
      - id: plan
        ${run('plan')}
          workspace: ${formatScalar(workspace)}
          plan: ${temp}/edgewise-plan.json
          report: ${temp}/edgewise.md
${env}      - ${formatUpload(`${name}-saved-plan`, 'edgewise-plan.json', 30)}
  apply:
    name: ${name} apply
    if: needs.plan.outputs.differs == 'true'
    needs: plan
    runs-on: ubuntu-latest
    timeout-minutes: 360
    environment: production
    permissions:
      # State is pushed to its branch.
      contents: write
    outputs:
      report: \${{ steps.report.outputs.artifact-id }}
      page: \${{ steps.page.outputs.artifact-url }}
    steps:
      ${checkoutStep}
      ${formatDownload(`${name}-saved-plan`, 'plan')}
      - ${run('apply')}
          workspace: ${formatScalar(workspace)}
          plan: ${temp}/plan/edgewise-plan.json
          report: ${temp}/edgewise.md
          html: ${temp}/edgewise.html
${formatEnv(parts)}      # Also after a failed apply, which may have changed something.
      - id: report
        if: always()
        ${formatUpload(`${name}-apply`, 'edgewise.md', 30, 'ignore')}
      # All changes as a page, to which the comment links. Whoever can read the repository can
      # read it.
      - id: page
        if: always()
        ${formatUpload(`${name}-apply-page`, 'edgewise.html', 30, 'ignore')}
  comment:
    if: always() && needs.apply.outputs.report != ''
    needs: apply
${formatPublication(parts, {
  command: 'comment',
  permission: 'pull-requests',
  artifact: `${name}-apply`,
  reason: '',
  inputs: '          page-url: ${{ needs.apply.outputs.page }}\n',
})}`
}

/** Formats `env` of the step that applies, and where a later secret is added. */
function formatEnv({ secrets, common, database }: GithubParts): string {
  const comment =
    '# Add a line here, and in no other job, for each variable of "secrets" in edgewise.yaml.'
  const all = [...database, ...secrets]
  const lines = formatEnvLines(common, 'vars') + formatEnvLines(all, 'secrets')
  return lines === ''
    ? `        # env:\n          ${comment}\n`
    : `        env:\n          ${comment}\n${lines}`
}

/** Formats the steps that store the variables of every job. */
function formatOthers({ common, database }: GithubParts): string {
  const steps = [
    ...(common.length === 0
      ? []
      : [
          'Store these as variables of the repository (Secrets and variables > Actions), not as\n' +
            `#    secrets, since every job needs them:${formatNames(common)}`,
        ]),
    ...(database.length === 0
      ? []
      : [
          'Store these as secrets of the repository with a user of the database who may only\n' +
            '#    read, and in the environment with one who may write. Pull requests from forks\n' +
            `#    get none, so their plan fails:${formatNames(database)}`,
        ]),
  ]
  return steps.map((step, i) => `\n# ${i + 4}. ${step}`).join('')
}

/** Formats a branch for a filter, in which some characters of branch names are special. */
function formatBranch(branch: string): string {
  return formatScalar(branch.replaceAll(/\+|^!/g, String.raw`\$&`))
}
