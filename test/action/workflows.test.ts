import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { simpleGit } from 'simple-git'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { Place } from '../steps/cli.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = join(root, 'examples/github')
const names = readdirSync(folder).filter((name) => name.endsWith('.yml'))
const action = join(root, 'action.yml')

const ci = join(root, '.github/workflows/ci.yml')
const release = join(root, '.github/workflows/release.yml')
const commit = '0123456789abcdef0123456789abcdef01234567'

let place: Place
/** The workflow that `edgewise init` writes. */
let written = ''
beforeAll(async () => {
  place = new Place('emulator')
  await place.cli('init', 'cdn', '--action', `team/edgewise@${commit}`)
  written = join(place.root, 'cdn/.github/workflows/edgewise.yml')
})
afterAll(() => place.remove())

interface Step {
  id?: string
  if?: string
  uses?: string
  run?: string
  'working-directory'?: string
  with?: Record<string, string>
  env?: Record<string, string>
}
interface Job {
  permissions: Record<string, string>
  'timeout-minutes': number
  environment?: string
  steps: Step[]
}
interface Workflow {
  on: Record<string, unknown>
  permissions: object
  jobs: Record<string, Job>
}

const read = (name: string) => parse(readFileSync(join(folder, name), 'utf8')) as Workflow
const workflows = new Map(names.map((name) => [name, read(name)]))

describe('the workflows', () => {
  it('have the least permissions they need', () => {
    const permissions = [...workflows].flatMap(([name, { permissions: top, jobs }]) => {
      expect([name, top]).toEqual([name, {}])
      return Object.entries(jobs).map(([job, each]) => [`${name} ${job}`, each.permissions])
    })
    expect(Object.fromEntries(permissions)).toEqual({
      'plan.yml plan': { contents: 'read' },
      'plan.yml comment': { contents: 'read', 'pull-requests': 'write' },
      'apply.yml plan': { contents: 'read' },
      'apply.yml apply': { contents: 'write' },
      'drift.yml drift': { contents: 'read' },
      'drift.yml issue': { contents: 'read', issues: 'write' },
    })
  })

  it('give secrets to the approved apply only, and no write token to pull requests', () => {
    for (const [name, { on, jobs }] of workflows) {
      expect([name, Object.keys(on)]).not.toEqual([
        name,
        expect.arrayContaining(['pull_request_target']),
      ])
      for (const [id, job] of Object.entries(jobs)) {
        const text = JSON.stringify(job)
        expect([name, id, text.includes('secrets.')]).toEqual([
          name,
          id,
          job.environment === 'production',
        ])
        expect([name, id, text.includes('github.token')]).toEqual([
          name,
          id,
          id === 'comment' || id === 'issue',
        ])
        expect(job['timeout-minutes']).toBeGreaterThan(0)
      }
    }
    const { plan, comment } = read('plan.yml').jobs
    expect(Object.keys(plan ?? {})).not.toContain('if')
    expect(comment).toMatchObject({
      if: 'github.event.pull_request.head.repo.full_name == github.repository',
      needs: 'plan',
    })
    // Next to the token runs only merged code, and the folder contains no credentials.
    expect(comment?.steps[0]?.with).toEqual({
      ref: '${{ github.event.pull_request.base.sha }}',
      'persist-credentials': false,
    })
  })

  it('apply the approved plan: its file is passed between jobs', () => {
    const { plan, apply } = read('apply.yml').jobs
    const uploaded = plan?.steps.find(({ uses }) =>
      uses?.startsWith('actions/upload-artifact@'),
    )?.with
    const downloaded = apply?.steps.find(({ uses }) =>
      uses?.startsWith('actions/download-artifact@'),
    )?.with
    expect(uploaded?.['name']).toBe(downloaded?.['name'])
    const inputs = (
      parse(readFileSync(action, 'utf8')) as { inputs: Record<string, { default?: string }> }
    ).inputs
    expect(uploaded?.['path']).toBe(inputs['plan']?.default)
    expect(apply).toMatchObject({
      needs: 'plan',
      if: "needs.plan.outputs.differs == 'true'",
      environment: 'production',
    })
  })

  it('keep reports and plans outside of the checkout, artifacts in their own folder', () => {
    const { inputs } = parse(readFileSync(action, 'utf8')) as {
      inputs: Record<string, { default?: string }>
    }
    for (const name of ['plan', 'report'])
      expect(inputs[name]?.default).toMatch(/^\$\{\{ runner\.temp \}\}\/[\w.-]+$/)
    let downloads = 0
    for (const { jobs } of workflows.values())
      for (const { steps } of Object.values(jobs))
        for (const [i, { uses, with: given }] of steps.entries()) {
          if (uses?.startsWith('actions/upload-artifact@') === true)
            expect(given?.['path']).toMatch(/^\$\{\{ runner\.temp \}\}\/[\w.-]+$/)
          if (uses?.startsWith('actions/download-artifact@') !== true) continue
          downloads++
          const downloaded = given?.['path']
          expect(downloaded).toMatch(/^\$\{\{ runner\.temp \}\}\/[a-z]+$/)
          const next = steps[i + 1]?.with ?? {}
          expect(next['report'] ?? next['plan']).toMatch(`${downloaded}/edgewise`)
        }
    expect(downloads).toBe(3)
  })

  it('use actions of the repository, or actions pinned by commit with a version comment', () => {
    const lines = [
      action,
      ci,
      release,
      written,
      ...names.map((name) => join(folder, name)),
    ].flatMap((path) =>
      readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => /\buses:/.test(line)),
    )
    expect(lines.length).toBeGreaterThan(15)
    const own = `<owner/repo>@<commit>|team/edgewise@${commit}`
    for (const line of lines)
      expect(line).toMatch(
        new RegExp(`uses: (${own}|actions/[a-z-]+@[0-9a-f]{40} # v\\d+\\.\\d+\\.\\d+)$`),
      )
    const pins = new Map<string, string>()
    for (const line of lines) {
      const [, name = '', pin = ''] = /uses: (actions\/[a-z-]+)@(\S+)/.exec(line) ?? []
      expect([name, pins.get(name) ?? pin]).toEqual([name, pin])
      pins.set(name, pin)
    }
  })

  it('put no expression into the text of a script', () => {
    const all = [
      ...workflows.values(),
      ...[written, ci, release].map((path) => parse(readFileSync(path, 'utf8')) as Workflow),
    ]
    const steps = all.flatMap(({ jobs }) => Object.values(jobs).flatMap((job) => job.steps))
    const scripts = steps.flatMap(({ run }) => (run === undefined ? [] : [run]))
    expect(scripts.length).toBeGreaterThan(5)
    for (const script of scripts) expect(script).not.toContain('${{')
  })

  it('give the action declared inputs only', () => {
    const { inputs } = parse(readFileSync(action, 'utf8')) as { inputs: Record<string, object> }
    for (const { jobs } of workflows.values()) {
      for (const { uses, with: given } of Object.values(jobs).flatMap((job) => job.steps)) {
        if (uses?.startsWith('<owner/repo>@') === true)
          expect(Object.keys(inputs)).toEqual(expect.arrayContaining(Object.keys(given ?? {})))
      }
    }
  })
})

describe('the program', () => {
  it('is never a package looked up by name', async () => {
    const files = (await simpleGit(root).raw('ls-files', '-z')).split('\0')
    const documented = files.filter((path) =>
      /^(README|docs|examples|schemas|src|tools|\.github|\.ci|package\.json)/.test(path),
    )
    expect(documented.length).toBeGreaterThan(100)
    const lookups = new RegExp(
      [
        String.raw`\b(npx|pnpx|bunx|npm (exec|x|init)|(pnpm|yarn) dlx)\b.*\bedgewise\b`,
        String.raw`\bnpm (install|i|add)\b.*(?<!\./)\bedgewise\b`,
        String.raw`(?<!/)\bedgewise@[\dv^~]`,
      ].join('|'),
    )
    for (const path of [...documented.map((each) => join(root, each)), written])
      expect([path, lookups.exec(readFileSync(path, 'utf8'))?.[0]]).toEqual([path, undefined])
  })
})

describe('the workflow that init writes', () => {
  it('runs the given action by commit, with declared inputs only', () => {
    const { permissions, jobs } = parse(readFileSync(written, 'utf8')) as Workflow
    expect(permissions).toEqual({ contents: 'read' })
    expect([jobs['plan']?.permissions, jobs['apply']?.permissions]).toEqual([
      { contents: 'read' },
      { contents: 'write' },
    ])
    const { inputs } = parse(readFileSync(action, 'utf8')) as { inputs: Record<string, object> }
    const commands = Object.entries(jobs).flatMap(([job, { steps }]) =>
      steps
        .filter(({ uses }) => uses?.startsWith('team/edgewise') === true)
        .map(({ uses, with: given }) => {
          expect(uses).toBe(`team/edgewise@${commit}`)
          expect(Object.keys(inputs)).toEqual(expect.arrayContaining(Object.keys(given ?? {})))
          return `${job} ${given?.['command']}`
        }),
    )
    expect(commands).toEqual(['plan fmt', 'plan plan', 'apply plan', 'apply apply'])
    // Only the apply has the token.
    const withToken = Object.values(jobs).flatMap(({ steps }) =>
      steps.filter((step) => JSON.stringify(step).includes('secrets.')),
    )
    expect(withToken.map(({ with: given }) => given?.['command'])).toEqual(['apply'])
  })
})

const parser = join(root, 'node_modules/@actions/workflow-parser')

describe("the code host's own parser", () => {
  const listErrors = (files: string[]) =>
    JSON.parse(
      execFileSync(
        process.execPath,
        [
          '--import',
          'tsx',
          fileURLToPath(new URL('check-workflows.ts', import.meta.url)),
          parser,
          ...files,
        ],
        {
          cwd: root,
          encoding: 'utf8',
        },
      ),
    ) as string[][]

  it('accepts the workflows and the action', () => {
    const files = [action, ci, release, written, ...names.map((name) => join(folder, name))]
    expect(listErrors(files)).toEqual(files.map(() => []))
  })

  it('rejects a broken workflow', () => {
    const broken = mkdtempSync(join(tmpdir(), 'edgewise-workflows-'))
    const text = readFileSync(join(folder, 'plan.yml'), 'utf8')
    try {
      const changed = [
        text.replace('timeout-minutes', 'timeout-minuts'),
        text.replace('contents: read', 'contents: sometimes'),
        text.replace('runs-on: ubuntu-latest', ''),
      ]
      const files = changed.map((each, i) => {
        writeFileSync(join(broken, `${i}.yml`), each)
        return join(broken, `${i}.yml`)
      })
      for (const errors of listErrors(files)) expect(errors).not.toEqual([])
    } finally {
      rmSync(broken, { recursive: true })
    }
  })
})
