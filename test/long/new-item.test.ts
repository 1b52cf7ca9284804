// @module-tag often
// @module-tag nightly
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folders = ['docs', 'src', 'tools', 'schemas', 'examples', 'test/conformance']
const copied = [...folders, 'package.json', 'tsconfig.json']

/** Prints for every case of an item whether the catalogue gives the expected result. */
const judge = `
import { readFileSync } from 'node:fs'
import { getItemSpec } from './src/core/catalog/catalogue.ts'
import { parseItem } from './src/core/catalog/parse-item.ts'

const item = process.argv[2] ?? ''
const cases = JSON.parse(readFileSync(\`test/conformance/own/\${item}.json\`, 'utf8'))
const judged = cases.map(({ payload, expect }) => {
  const { value } = parseItem(getItemSpec(item), payload, 'wire')
  return (value === null ? 'reject' : 'accept') === expect
})
console.log(JSON.stringify(judged))
`

describe('npm run new-item', () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-new-item-'))
  const options = { cwd: folder, encoding: 'utf8' } as const
  const run = (...args: string[]) => execFileSync(process.execPath, args, options)
  const tsx = (...args: string[]) => run('--import', 'tsx', ...args)

  beforeAll(() => {
    for (const path of copied) cpSync(join(root, path), join(folder, path), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    writeFileSync(join(folder, 'judge.ts'), judge)
    tsx('tools/new-item.ts', 'plain_item')
    tsx('tools/new-item.ts', 'checked_item', '--file')
    tsx('tools/generate.ts')
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it('writes rows that compile', () => {
    const config = { extends: './tsconfig.json', include: ['src/core/catalog'] }
    writeFileSync(join(folder, 'tsconfig.catalog.json'), JSON.stringify(config))
    run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.catalog.json')
  })

  it.each(['plain_item', 'checked_item'])('writes cases that pass: %s', (item) => {
    expect(JSON.parse(tsx('judge.ts', item))).toEqual([true, true])
  })
})
