import { readFileSync } from 'node:fs'
import { globSync } from 'tinyglobby'
import { expect, it } from 'vitest'
import {
  inspect,
  listFileUses,
  listImpurities,
  listReachedWriters,
  listStarts,
  loadSources,
} from '../tools/house.ts'

it('rooms import only what their row allows, and pure rooms are pure', () => {
  const { rooms, faults } = inspect()
  expect(faults).toEqual([])
  expect(rooms.every((room) => room.files > 0)).toBe(true)
})

it.each([
  "import { readFileSync } from 'fs'",
  "import 'fs'",
  "export * from 'node:fs/promises'",
  'import { spawn } from "child_process"',
  "const { hostname } = await import('os')",
  "const { join } = require('path')",
  'setTimeout(done, 10)',
  'setInterval(done, 10)',
  'setImmediate(done)',
  'const start = performance.now()',
  'const now = Date.now()',
  'const now = new Date()',
  'const drawn = Math.random()',
  'const id = crypto.randomUUID()',
  "import { createHash, randomBytes } from 'node:crypto'",
  "import net from 'node:net'",
  'const { env } = process.env',
  'const answer = await fetch(url)',
  'console.log(text)',
])('a pure room may not contain %s', (line) => {
  expect(listImpurities(`${line}\n`)).toHaveLength(1)
})

it.each([
  "import { createHash } from 'node:crypto'",
  "import { isIP, isIPv4 } from 'node:net'",
  "import { findMax } from './append.ts'",
  "import leven from 'leven'",
  'const day = new Date(`${text}T00:00Z`)',
  '// Nothing calls setTimeout here.',
])('a pure room may contain %s', (line) => {
  expect(listImpurities(`${line}\n`)).toEqual([])
})

it.each([
  "import { spawn } from 'node:child_process'",
  "import { execFileSync } from 'child_process'",
  "const { simpleGit } = await import('simple-git')",
  "const { spawn } = require('node:child_process')",
  "const { spawn } = process.getBuiltinModule('node:child_process')",
])('only a file of the list may start programs with %s', (line) => {
  expect(listStarts(`${line}\n`)).toHaveLength(1)
})

it.each([
  "import { writeFileSync } from 'node:fs'",
  "import type { Stats } from 'fs'",
  'import fs from "node:fs/promises"',
  "import 'fs/promises'",
  "export { readFile } from 'node:fs/promises'",
  "const { rm } = await import('node:fs/promises')",
  "const { rm } = await import(`node:${'fs'}`)",
  'const { rm } = await import(name)',
  "const fs = require('fs')",
  'const fs = require(`fs`)',
  "const fs = process.getBuiltinModule('node:fs')",
  'const { getBuiltinModule } = process',
  "import { createRequire } from 'node:module'",
  "const binding = process.binding('fs')",
])('a room other than files may not contain %s', (line) => {
  expect(listFileUses(`${line}\n`)).toHaveLength(1)
})

it.each([
  "import { replaceBelow } from '../files/replace-file.ts'",
  "const { plan } = await import('../../operations/plan.ts')",
  "import fsx from 'fs-x'",
  'const important = (name) => name',
  "// Nothing calls require('fs') here.",
])('any room may contain %s', (line) => {
  expect(listFileUses(`${line}\n`)).toEqual([])
})

const agentTool = 'cli/mcp/tools/state.ts'

it.each([
  ["import { apply } from '../../../operations/apply.ts'", 'operations/apply.ts'],
  ["const { apply } = await import('../../../operations/apply.ts')", 'operations/apply.ts'],
  ["import type { A } from './a.ts'\nimport '../../save-file.ts'", 'cli/save-file.ts'],
  ["import { type A, b } from '../../../operations/prune.ts'", 'operations/prune.ts'],
  ["export * from '../../../service/write/client.ts'", 'service/write/client.ts'],
  ["import { writeFiles } from '../../../files/write-files.ts'", 'files/write-files.ts'],
  ["import { saveOutput } from '../../agents/apply-tool.ts'", 'cli/agents/apply-tool.ts'],
])('tools for agents may not reach a writer: %s', (line, writer) => {
  const sources = loadSources()
  sources.set(agentTool, `${sources.get(agentTool)}\n${line}\n`)
  const faults = listReachedWriters(sources)
  expect(faults).toContain(
    `src/${agentTool}: tools for agents reach a writer: ${agentTool} > ${writer}`,
  )
})

it('tools for agents may not reach a writer through a shared module', () => {
  const sources = loadSources()
  const shared = 'operations/plan.ts'
  sources.set(shared, `${sources.get(shared)}\nimport { forget } from './forget.ts'\n`)
  expect(listReachedWriters(sources)).toContainEqual(
    expect.stringMatching(/: cli\/mcp\/\S+ > operations\/plan\.ts > operations\/forget\.ts$/),
  )
})

it.each([
  "import type { apply } from '../../../operations/apply.ts'",
  "import { type A, type B } from '../../../operations/apply.ts'",
  "import { drift } from '../../../operations/drift.ts'",
  "// import '../../../operations/apply.ts'",
])('tools for agents may have %s', (line) => {
  const sources = loadSources()
  sources.set(agentTool, `${sources.get(agentTool)}\n${line}\n`)
  expect(listReachedWriters(sources)).toEqual([])
})

it('every file of the longer checks has the tag that they run', () => {
  const files = globSync('test/long/*.test.ts')
  const tagged = files.filter((file) =>
    readFileSync(file, 'utf8').startsWith('// @module-tag often\n'),
  )
  expect(tagged).toEqual(files)
})

it('no list is spread into arguments where a manifest or a service decides its length', () => {
  // `Math.max(...[a, b])` has a fixed length.
  const spread = /\.(push|unshift)\(\s*\.\.\.|Math\.(max|min)\((\s*|[\w.']+, )\.\.\.(?!\[)/
  const found = globSync('src/**/*.ts', { ignore: 'src/**/generated/**' }).filter((file) =>
    spread.test(readFileSync(file, 'utf8')),
  )
  expect(found).toEqual([])
})

it('no URL is tested by URL.canParse, which Node 20 answers wrongly in a loop', () => {
  const files = globSync('src/**/*.ts', { ignore: 'src/**/generated/**' })
  const found = files.filter((file) => /URL\.canParse\(/.test(readFileSync(file, 'utf8')))
  expect(found).toEqual([])
})

it('lines have at most 100 characters in code, 120 in Markdown outside of code blocks', () => {
  const code = globSync('{src,test,tools}/**/*.ts', { ignore: 'src/**/generated/**' })
  const pages = globSync(['*.md', 'docs/**/*.md'])
  const listLong = (file: string, text: string, max: number) =>
    text.split('\n').flatMap((line, i) => (line.length > max ? [`${file}:${i + 1}`] : []))
  expect([
    ...code.flatMap((file) => listLong(file, readFileSync(file, 'utf8'), 100)),
    ...pages.flatMap((file) =>
      listLong(file, readFileSync(file, 'utf8').replace(unbroken, blank), 120),
    ),
  ]).toEqual([])
})

/** A code block, or a row or a table that is generated. */
const unbroken = /^```.*?^```|^\| \[.*?$|<!-- states: begin.*?states: end/gms

/** Removes the text of a code block, and keeps its lines. */
const blank = (block: string) => block.replace(/.+/g, '')
