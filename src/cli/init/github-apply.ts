import {
  checkout,
  download,
  formatEnvLines,
  temp,
  upload,
  type GithubParts,
} from './github-parts.ts'
import { buildGlobs, formatNames, formatScalar } from './placement.ts'

/** Builds the workflow that applies merged changes. */
export function buildGithubApply({
  name,
  branch,
  paths,
  pathOf,
  run,
  origin,
  workspace,
  secrets,
  common,
  env,
}: GithubParts): string {
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
#    requests can use the secrets of the repository.${formatNames(secrets)}${formatCommon(common)}
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
      # With all branches, because state is on one of them.
      - uses: ${checkout}
        with:
          fetch-depth: 0
      - id: plan
        ${run('plan')}
          workspace: ${formatScalar(workspace)}
          plan: ${temp}/edgewise-plan.json
          report: ${temp}/edgewise.md
${env}      - uses: ${upload}
        with:
          name: ${name}-saved-plan
          path: ${temp}/edgewise-plan.json
          retention-days: 30
          if-no-files-found: error
          overwrite: true
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
    steps:
      - uses: ${checkout}
        with:
          fetch-depth: 0
      - uses: ${download}
        with:
          name: ${name}-saved-plan
          # In a folder of its own: the files of an artifact replace others.
          path: ${temp}/plan
      - ${run('apply')}
          workspace: ${formatScalar(workspace)}
          plan: ${temp}/plan/edgewise-plan.json
          report: ${temp}/edgewise.md
${formatEnv(secrets, common)}      # Also after a failed apply, which may have changed something.
      - id: report
        if: always()
        uses: ${upload}
        with:
          name: ${name}-apply
          path: ${temp}/edgewise.md
          retention-days: 30
          if-no-files-found: ignore
          overwrite: true
  comment:
    if: always() && needs.apply.outputs.report != ''
    needs: apply
    runs-on: ubuntu-latest
    timeout-minutes: 5
    permissions:
      contents: read
      pull-requests: write
    steps:
      - uses: ${download}
        with:
          name: ${name}-apply
          path: ${temp}/report
      - ${run('comment')}
          workspace: ${formatScalar(workspace)}
          report: ${temp}/report/edgewise.md
          code-host-token: \${{ github.token }}
`
}

/** Formats `env` of the step that applies, and where a later secret is added. */
function formatEnv(secrets: string[], common: string[]): string {
  const comment =
    '# Add a line here, and in no other job, for each variable of "secrets" in edgewise.yaml.'
  const lines = formatEnvLines(common, 'vars') + formatEnvLines(secrets, 'secrets')
  return lines === ''
    ? `        # env:\n          ${comment}\n`
    : `        env:\n          ${comment}\n${lines}`
}

/** Formats the step that stores the variables of every job. */
function formatCommon(names: string[]): string {
  return names.length === 0
    ? ''
    : '\n# 4. Store these as variables of the repository (Secrets and variables > Actions), not\n' +
        `#    as secrets, since every job needs them:${formatNames(names)}`
}

/** Formats a branch for a filter, in which some characters of branch names are special. */
function formatBranch(branch: string): string {
  return formatScalar(branch.replaceAll(/\+|^!/g, String.raw`\$&`))
}
