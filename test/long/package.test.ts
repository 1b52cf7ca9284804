// @module-tag often
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const modules = join(root, 'node_modules')
let consumer = ''

/** Creates a project with only the packed package and its dependencies. */
beforeEach(() => {
  consumer = mkdtempSync(join(tmpdir(), 'edgewise-consumer-'))
  const [packed] = JSON.parse(
    run('npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', consumer),
  ) as { filename: string }[]
  execFileSync('tar', ['xzf', packed?.filename ?? ''], { cwd: consumer })
  mkdirSync(join(consumer, 'node_modules'))
  renameSync(join(consumer, 'package'), join(consumer, 'node_modules', 'edgewise'))
  cpSync(join(modules, 'highs'), join(consumer, 'node_modules', 'highs'), { recursive: true })
  writeFileSync(join(consumer, 'package.json'), '{"type": "module"}')
})
afterEach(() => rmSync(consumer, { recursive: true, force: true }))

function run(program: string, ...args: string[]): string {
  return execFileSync(program, args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

const program = `import { open, EdgewiseError } from 'edgewise'
import type { Change, Dialogue, Executed, Planned } from 'edgewise'

const dialogue: Partial<Dialogue> = {
  note: (text) => console.log(text),
  confirm: async ({ kind }) => kind === 'apply',
}
const workspace = open('.', { dialogue })
const planned: Planned = await workspace.plan({ target: ['*.example.com'], effort: 'quick' })
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

it('the program and the library run', () => {
  const main = join(consumer, 'node_modules', 'edgewise', 'dist', 'cli', 'main.js')
  const work = join(consumer, 'work')
  mkdirSync(work)
  const edgewise = (...args: string[]) =>
    execFileSync(process.execPath, [main, '-C', work, ...args], { encoding: 'utf8' })
  execFileSync(process.execPath, [main, 'init', work], { encoding: 'utf8' })
  expect(edgewise('validate')).toContain('Valid')
  const script = `import { open } from 'edgewise'
const { plan } = await open(${JSON.stringify(work)}).plan()
const { status } = await open(${JSON.stringify(work)}).apply()
console.log(plan.changes.length > 0, status)`
  writeFileSync(join(consumer, 'use.mjs'), script)
  const output = execFileSync(process.execPath, ['use.mjs'], { cwd: consumer, encoding: 'utf8' })
  expect(output).toBe('true done\n')
  expect(edgewise('plan')).toContain('No changes')
})
