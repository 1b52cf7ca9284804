// @module-tag often
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const modules = join(root, 'node_modules')
let consumer = ''

/** Installs the packed package into an empty folder, with no registry and no cache. */
beforeAll(() => {
  consumer = mkdtempSync(join(tmpdir(), 'edgewise-consumer-'))
  const [packed] = JSON.parse(
    run(root, 'npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', consumer),
  ) as { filename: string }[]
  writeFileSync(join(consumer, 'package.json'), '{"type": "module"}')
  run(consumer, 'npm', 'install', '--no-audit', `./${packed?.filename ?? ''}`)
})
afterAll(() => rmSync(consumer, { recursive: true, force: true }))

function run(cwd: string, program: string, ...args: string[]): string {
  const nowhere = 'http://127.0.0.1:9'
  return execFileSync(program, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: consumer,
      npm_config_registry: nowhere,
      npm_config_proxy: nowhere,
      npm_config_fetch_retries: '0',
      HTTPS_PROXY: nowhere,
      HTTP_PROXY: nowhere,
    },
  })
}

const program = `import { open, EdgewiseError } from 'edgewise'
import type { Change, Dialogue, Executed, Planned } from 'edgewise'

const dialogue: Partial<Dialogue> = {
  note: (text) => console.log(text),
  confirm: async ({ kind }) => kind === 'apply',
}
const workspace = open('.', { dialogue })
const planned: Planned = await workspace.plan({ target: ['*.example.com'] })
const changes: Change[] = planned.plan.changes
const executed: Executed = await workspace.apply({ waves: false, allow: ['https'] })
console.log(changes.length, executed.status, executed.result.confirmed, EdgewiseError.name)
`

it('the types compile with the default library and with checked declarations', () => {
  writeFileSync(join(consumer, 'use.ts'), program)
  const compilerOptions = {
    strict: true,
    module: 'nodenext',
    target: 'es2022',
    noEmit: true,
    types: [],
  }
  writeFileSync(
    join(consumer, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['use.ts'] }),
  )
  const tsc = () =>
    execFileSync(join(modules, '.bin', 'tsc'), ['-p', consumer], {
      encoding: 'utf8',
      stdio: 'pipe',
    })
  expect(tsc()).toBe('')
  writeFileSync(join(consumer, 'use.ts'), `${program}\nworkspace.applyEverything()\n`)
  expect(tsc).toThrow()
})

it('the program and the library run without any other package', () => {
  expect(readdirSync(join(consumer, 'node_modules')).toSorted()).toEqual([
    '.bin',
    '.package-lock.json',
    'edgewise',
  ])
  const edgewise = (...args: string[]) =>
    run(consumer, join(consumer, 'node_modules', '.bin', 'edgewise'), ...args)
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string
  }
  expect(edgewise('--version')).toBe(`${version}\n`)
  edgewise('init', 'work')
  expect(edgewise('-C', 'work', 'validate')).toContain('Valid')
  // A bound of the solver: its WebAssembly is part of the package.
  expect(edgewise('-C', 'work', 'plan')).toMatch(/\(at least [1-9]/)
  const script = `import { open } from 'edgewise'
const { plan } = await open('work').plan()
const { status } = await open('work').apply()
console.log(plan.changes.length > 0, status)`
  writeFileSync(join(consumer, 'use.mjs'), script)
  expect(run(consumer, process.execPath, 'use.mjs')).toBe('true done\n')
  expect(edgewise('-C', 'work', 'plan')).toContain('No changes')
})

it('the example of docs/internals/library.md runs against the emulator', () => {
  const page = readFileSync(join(root, 'docs/internals/library.md'), 'utf8')
  const [, example = ''] = /```js\n([\s\S]*?)```/.exec(page) ?? []
  expect(example.split('\n').length).toBeGreaterThan(15)
  run(consumer, join(consumer, 'node_modules', '.bin', 'edgewise'), 'init', 'library')
  writeFileSync(join(consumer, 'library', 'example.mjs'), example)
  const printed = run(join(consumer, 'library'), process.execPath, 'example.mjs')
  expect(printed.split('\n')).toEqual(['4 changes in 1 writes', 'done 1', ''])
  for (const line of printed.trim().split('\n')) expect(page).toContain(`\`${line}\``)
})

it('the package has all files that its pages link to', () => {
  const home = join(consumer, 'node_modules', 'edgewise')
  const pages = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /^(?:[^/]+|docs\/.*)\.md$/.test(path),
  )
  const some = ['docs/concepts.md', 'docs/guides/drift.md', 'docs/reference/items/https.md']
  expect(pages).toEqual(expect.arrayContaining(['README.md', ...some]))
  for (const page of pages)
    for (const [, target = ''] of readFileSync(join(home, page), 'utf8').matchAll(
      // The package has neither the source, to which pages for contributors lead, nor photographs.
      /\]\((?!https?:|#|(?:\.\.\/)+(?:src|test)\/|\S+\.png\))([^)#]+)/g,
    ))
      expect([page, target, existsSync(join(home, dirname(page), target))]).toEqual([
        page,
        target,
        true,
      ])
})
