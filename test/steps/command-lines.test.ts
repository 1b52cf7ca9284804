// @module-tag often
import { readdirSync, readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { expect, it } from 'vitest'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { buildProgram } from '../../src/cli/program.ts'
import type { Io } from '../../src/cli/io.ts'
import { addLiveLine } from '../../src/cli/terminal/live-line.ts'
import { listEndings } from '../../src/cli/report-formats/formats.ts'
import type { ReportCommand } from '../../src/cli/report-formats/subjects.ts'
import type { Json } from '../../src/core/model/json.ts'
import { commandLines } from './command-lines.ts'
import { place, setStage } from './stage.ts'

setStage()

/** Commands that the list has not, and what tests that they show no secret. */
const others: Record<string, string> = {
  init: 'it writes a workspace where none is',
  lsp: 'test/editors/lsp-secrets.test.ts',
  serve: 'test/long/hidden-logins.ts, test/server',
  emulator: 'it has a token of its own: test/emulator',
  completion: 'it prints a fixed text',
  mcp: 'it waits for a program: test/mcp',
}

interface Leaf {
  path: string
  options: string[]
}

function listLeaves(command: Command, above: string[] = []): Leaf[] {
  return command.commands.flatMap((child) => {
    const path = [...above, child.name()]
    const options = child.options.map(({ long }) => long ?? '')
    return child.commands.length === 0
      ? [{ path: path.join(' '), options }]
      : listLeaves(child, path)
  })
}

const io = { out: () => undefined, err: () => undefined, columns: 80 } as unknown as Io
const leaves = listLeaves(buildProgram(io, addLiveLine(io).live, () => undefined))

it.each(leaves)('the list has $path with each form of its output', ({ path, options }) => {
  if (others[path] !== undefined) return
  const lines = commandLines
    .map(({ line }) => line)
    .filter((line) => line.join(' ').startsWith(path))
  expect(lines.length, `${path} is missing in command-lines.ts`).toBeGreaterThan(0)
  const words = new Set(lines.flat())
  const written = ['--out', '--metrics-file', '--schema'].filter((name) => options.includes(name))
  for (const name of ['--json', ...written]) if (path !== 'complete') expect(words).toContain(name)
  if (!options.includes('--report')) return
  for (const ending of listEndings(path.replace('state ', '') as ReportCommand))
    expect([...words].some((word) => word.endsWith(ending))).toBe(true)
})

const schemas = new URL('../../schemas/output/', import.meta.url)

it('each schema of an output has a line', () => {
  const names = readdirSync(schemas).map((name) => name.replace('.schema.json', ''))
  // Answers of tools, which test/mcp checks.
  const named = new Set([...commandLines.map(({ schema }) => schema), 'applied', 'proposal'])
  expect(names.filter((name) => name !== 'error' && !named.has(name))).toEqual([])
})

it('what each line prints holds to its schema, or is an error', async () => {
  place.manifest('www.example.com', { timeout: { time: 60 } })
  const ajv = new Ajv2020({ allErrors: true, strict: false })
  const compile = (name: string) =>
    ajv.compile(JSON.parse(readFileSync(new URL(`${name}.schema.json`, schemas), 'utf8')) as object)
  const isError = compile('error')
  for (const { line, schema } of commandLines) {
    const { out } = await place.cli(...line)
    if (schema === undefined) continue
    const [first = '', ...more] = out.trim().split('\n')
    const values = schema === 'apply-event' ? [first, ...more] : [out]
    const holds = compile(schema)
    for (const value of values.map((each) => JSON.parse(each) as Json))
      if (!isError(value)) expect([line, holds(value) ? [] : holds.errors]).toEqual([line, []])
  }
})
