import type { Pin } from './pin.ts'
import {
  buildGlobs,
  buildSuffix,
  formatNames,
  formatScalar,
  quotePath,
  type Placement,
} from './placement.ts'
import type { Variables } from './workflow-variables.ts'

/**
 * Builds the pipeline for GitLab.
 *
 * @param variables of the jobs, which the project has to define
 */
export function buildGitlabPipeline(
  pin: Pin,
  { workspace, paths }: Placement,
  variables: Variables,
): string {
  const name = `edgewise${buildSuffix(workspace)}`
  const folder = workspace === '.' ? '.edgewise' : `${workspace}/.edgewise`
  const at = workspace === '.' ? '' : ` -C ${quotePath(workspace)}`
  const report = (kind: string) => quotePath(`${folder}/${kind}.md`)
  const artifact = (file: string) => formatScalar(`${folder}/${file}`)
  const plan = quotePath(`${folder}/plan.json`)
  const globs = buildGlobs(paths, '**/*').map((glob) => `        - ${formatScalar(glob)}`)
  const changes = paths[0] === '.' ? '' : `\n      changes:\n${globs.join('\n')}`
  const pathspecs = paths.map(quotePath).join(' ')
  const protectedBranch =
    '$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH && $CI_COMMIT_REF_PROTECTED == "true"'
  const merged = `$CI_PIPELINE_SOURCE == "push" && ${protectedBranch}`
  const started = `$CI_PIPELINE_SOURCE == "web" && ${protectedBranch}`
  const script = `    - mkdir -p ${quotePath(folder)}`
  const otherSteps = formatOthers(variables)
  return `# Plans merge requests, applies merged changes, and detects drift on a schedule.
#
# Every job runs in the image below, pinned by its digest. A merge request has a link to its plan
# ("${name} plan"). After the merge, one job plans again. Whoever may deploy to the environment
# "production" reads that plan and starts the next job. It applies exactly that plan, and refuses
# it if state or manifests have changed since. Until somebody starts that job, GitLab shows the
# pipeline as "blocked".
#
# Before the first run:
# 1. Protect the default branch (else nothing is applied) and the environment "production".
# 2. Store the variables of the apply as protected variables of that environment. Later, add one
#    for each new variable of "secrets" in edgewise.yaml.${formatNames(variables.secrets)}
# 3. Let jobs push state: Settings > CI/CD > Job token permissions > Allow Git push requests.
# 4. Add a pipeline schedule for drift. A pipeline fails while there is drift.${otherSteps}
# Written by "edgewise init --ci gitlab --action ${pin.reference}".
.${name}:
  image:
    name: ${pin.reference}
    entrypoint: [""]
  variables:
    # All commits, because state is on a branch of its own.
    GIT_DEPTH: "0"
    # The files belong to the user of the runner, which may not be the user of the image.
    GIT_CONFIG_COUNT: "1"
    GIT_CONFIG_KEY_0: safe.directory
    GIT_CONFIG_VALUE_0: $CI_PROJECT_DIR

# Runs for every merge request, so that a pipeline can be required. It passes at once if no file
# of the workspace changes.
${name} plan:
  extends: .${name}
  stage: test
  timeout: 15 minutes
  interruptible: true
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
  script:
${script}
    - |
      if git diff --quiet "$CI_MERGE_REQUEST_DIFF_BASE_SHA" HEAD -- ${pathspecs}; then
        echo 'No file of the workspace changes. Nothing to plan.' | tee ${report('plan')}
        exit 0
      fi
    - edgewise validate${at}
    - edgewise plan${at} --markdown ${report('plan')}
  artifacts:
    expose_as: ${name} plan
    paths:
      - ${artifact('plan.md')}
    expire_in: 1 week

${name} plan to apply:
  extends: .${name}
  stage: test
  timeout: 15 minutes
  rules:
    - if: ${merged}${changes}
    - if: ${started}
  script:
${script}
    - edgewise validate${at}
    - edgewise plan${at} --markdown ${report('plan')} --out ${plan}
  artifacts:
    paths:
      - ${artifact('plan.md')}
      - ${artifact('plan.json')}
    expire_in: 30 days

${name} apply:
  extends: .${name}
  stage: deploy
  timeout: 6 hours
  needs:
    - ${name} plan to apply
  rules:
    - if: ${merged}${changes}
      when: manual
    - if: ${started}
      when: manual
  environment: production
  # One apply after another.
  resource_group: ${name}-apply
  script:
    - edgewise apply${at} ${plan} --markdown ${report('apply')}
  artifacts:
    when: always
    paths:
      - ${artifact('apply.md')}
    expire_in: 30 days

${name} drift:
  extends: .${name}
  stage: test
  timeout: 30 minutes
  rules:
    - if: $CI_PIPELINE_SOURCE == "schedule" && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  script:
${script}
    # Exits with 2 on drift. To compare the service itself: --observed PROGRAM, of the image.
    - edgewise drift${at} --markdown ${report('drift')}
  artifacts:
    when: always
    paths:
      - ${artifact('drift.md')}
    expire_in: 1 week
`
}

/** Formats the steps that store the variables of every job. */
function formatOthers({ common, database }: Variables): string {
  const steps = [
    ...(common.length === 0
      ? []
      : [
          'Store these as variables of the project, neither protected nor of one environment,\n' +
            `#    since every job needs them:${formatNames(common)}`,
        ]),
    ...(database.length === 0
      ? []
      : [
          'Store these as masked variables of the project with a user of the database who may\n' +
            '#    only read, and as protected ones of that environment with one who may write:' +
            formatNames(database),
        ]),
  ]
  return steps.map((step, i) => `\n# ${i + 5}. ${step}`).join('')
}
