// @module-tag nightly
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { itLong } from '../runs.ts'
import { buildGitlab, parseGitlab, pinnedImage } from './templates.ts'

const { '.edgewise': base, ...jobs } = parseGitlab()
/** What a line of a script may begin with. */
const allowedLine = new RegExp(
  [
    String.raw`^ *(edgewise (validate|test|plan|apply|drift|rollout|rollback)\b|mkdir -p `,
    String.raw`if git diff |fi$|case |["\w |[\]*-]*\*\)$|esac$|echo '|exit [01]( ;;)?$|$)`,
  ].join('|'),
)
const scripts = (script: string[] = []) => script.flatMap((text) => text.split('\n'))

describe('the pipeline for GitLab', () => {
  it('runs every job in the pinned image, and nothing of the repository', () => {
    expect(base?.image?.name).toBe(pinnedImage)
    // All branches, and files of another user than that of the image.
    expect(base?.variables).toEqual({
      GIT_DEPTH: '0',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '$CI_PROJECT_DIR',
    })
    expect(Object.keys(jobs)).toEqual([
      'edgewise plan',
      'edgewise plan to apply',
      'edgewise apply',
      'edgewise operate',
      'edgewise drift',
    ])
    for (const [name, job] of Object.entries(jobs)) {
      expect([name, job.extends, job.image]).toEqual([name, '.edgewise', undefined])
      for (const line of scripts(job.script)) expect(line).toMatch(allowedLine)
    }
  })

  it('has the environment with the secrets in the jobs that write only, started by hand', () => {
    for (const [name, { environment, resource_group: group, rules }] of Object.entries(jobs)) {
      const isApply = name === 'edgewise apply'
      const isApproved = isApply || name === 'edgewise operate'
      expect([name, environment, group]).toEqual([
        name,
        isApproved ? 'production' : undefined,
        isApply ? 'edgewise-apply' : undefined,
      ])
      for (const rule of rules)
        expect([name, rule.when]).toEqual([name, isApply ? 'manual' : undefined])
    }
    const writing = ['edgewise apply', 'edgewise operate'].flatMap(
      (name) => jobs[name]?.rules ?? [],
    )
    expect(writing).toHaveLength(3)
    for (const { if: condition } of writing)
      expect(condition).toContain(
        '$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH && $CI_COMMIT_REF_PROTECTED == "true"',
      )
  })

  it('describes the secrets to store, and that a plan to apply blocks its pipeline', () => {
    const [comment = ''] = buildGitlab().split('\n.edgewise:')
    expect(comment).toContain('\n#    - EDGEWISE_TOKEN\n')
    expect(comment).toContain('"blocked"')
    // The state follows from a manual job that may not fail.
    expect(JSON.stringify(jobs['edgewise apply'])).not.toContain('allow_failure')
  })

  it('applies the saved plan of the job before', () => {
    const [plan, apply] = [jobs['edgewise plan to apply'], jobs['edgewise apply']]
    expect(apply?.needs).toEqual(['edgewise plan to apply'])
    expect(apply?.script).toEqual([
      'edgewise apply .edgewise/plan.json --report .edgewise/apply.md',
    ])
    expect(plan?.artifacts?.paths).toContain('.edgewise/plan.json')
    expect(plan?.script.at(-1)).toContain('--out .edgewise/plan.json')
    expect(apply?.rules).toEqual(plan?.rules.map((rule) => ({ ...rule, when: 'manual' })))
  })

  it('plans every merge request: a required pipeline is never missing', () => {
    expect(jobs['edgewise plan']?.rules).toEqual([
      { if: '$CI_PIPELINE_SOURCE == "merge_request_event"' },
    ])
  })

  it('of two workspaces shares no name, and quotes paths', () => {
    const [a, b] = [parseGitlab('apps/a'), parseGitlab('apps/b')]
    expect(Object.keys(a).filter((name) => name in b)).toEqual([])
    const odd = parseGitlab('apps/my cdn')
    expect(odd['edgewise-apps-my-cdn apply']).toMatchObject({
      extends: '.edgewise-apps-my-cdn',
      script: [
        "edgewise apply -C 'apps/my cdn' 'apps/my cdn/.edgewise/plan.json' " +
          "--report 'apps/my cdn/.edgewise/apply.md'",
      ],
    })
  })
})

/** Folder of a repository for gitlab-ci-local. */
function createProject(): string {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-gitlab-'))
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder })
  git('init', '--quiet', '-b', 'main')
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
  git(...author, 'commit', '--quiet', '--allow-empty', '-m', 'first')
  git('remote', 'add', 'origin', 'https://git.example.com/team/cdn.git')
  git('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main')
  return folder
}

const program = fileURLToPath(import.meta.resolve('gitlab-ci-local'))
/** Module with the only method of Node 22 that the program needs. */
const polyfill = `data:text/javascript,${encodeURIComponent(
  'Set.prototype.union ??= function (other) { return new Set([...this, ...other]) }',
)}`

/** Lists the jobs that run with these variables. Throws if GitLab's schema is violated. */
function listJobs(pipeline: string, variables: Record<string, string>, withSchema: boolean) {
  const folder = createProject()
  writeFileSync(join(folder, '.gitlab-ci.yml'), pipeline)
  const args = Object.entries(variables).flatMap(([name, value]) => [
    '--variable',
    `${name}=${value}`,
  ])
  const mode = [
    '--list-json',
    '--no-evaluate-rule-changes',
    `--json-schema-validation=${withSchema}`,
  ]
  try {
    const out = execFileSync(process.execPath, ['--import', polyfill, program, ...mode, ...args], {
      cwd: folder,
      encoding: 'utf8',
      stdio: 'pipe',
      env: { PATH: process.env['PATH'], HOME: folder },
    })
    const listed = JSON.parse(out.slice(out.indexOf('[\n'))) as { name: string; when: string }[]
    return listed.filter(({ when }) => when !== 'never').map(({ name, when }) => `${name}: ${when}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

itLong("the pipeline passes GitLab's schema, a broken one does not", () => {
  expect(listJobs(buildGitlab('apps/my cdn'), {}, true)).toEqual([])
  const broken = buildGitlab().replace('resource_group', 'resource_groups')
  expect(() => listJobs(broken, {}, true)).toThrow(/resource_groups/)
})

itLong('each job runs for its event only', () => {
  const branch = { CI_COMMIT_BRANCH: 'main', CI_COMMIT_REF_PROTECTED: 'true' }
  const merged = ['edgewise plan to apply: on_success', 'edgewise apply: manual']
  const events: [Record<string, string>, string[]][] = [
    [
      { CI_PIPELINE_SOURCE: 'merge_request_event', CI_COMMIT_BRANCH: '' },
      ['edgewise plan: on_success'],
    ],
    [{ CI_PIPELINE_SOURCE: 'push', ...branch }, merged],
    [{ CI_PIPELINE_SOURCE: 'web', ...branch }, merged],
    [
      { CI_PIPELINE_SOURCE: 'web', ...branch, EDGEWISE_ACTION: 'approve' },
      ['edgewise operate: on_success'],
    ],
    [{ CI_PIPELINE_SOURCE: 'push', ...branch, EDGEWISE_ACTION: 'approve' }, merged],
    [
      {
        CI_PIPELINE_SOURCE: 'web',
        ...branch,
        CI_COMMIT_REF_PROTECTED: 'false',
        EDGEWISE_ACTION: 'approve',
      },
      [],
    ],
    [{ CI_PIPELINE_SOURCE: 'push', ...branch, CI_COMMIT_REF_PROTECTED: 'false' }, []],
    [{ CI_PIPELINE_SOURCE: 'push', ...branch, CI_COMMIT_BRANCH: 'topic' }, []],
    [{ CI_PIPELINE_SOURCE: 'schedule', ...branch }, ['edgewise drift: on_success']],
  ]
  for (const [variables, expected] of events)
    expect([variables, listJobs(buildGitlab(), variables, false)]).toEqual([variables, expected])
})
