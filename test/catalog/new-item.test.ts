import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folders = ['src', 'tools', 'schemas', 'examples', 'test/conformance']
const copied = [...folders, 'package.json', 'tsconfig.json']

/** Prints for every case of an item whether the catalogue judges it as the case expects. */
const judge = `
import { readFileSync } from 'node:fs'
import { itemSpec } from './src/catalog/catalogue.ts'
import { parseItem } from './src/catalog/parse-item.ts'

const item = process.argv[2] ?? ''
const cases = JSON.parse(readFileSync(\`test/conformance/own/\${item}.json\`, 'utf8'))
const judged = cases.map(({ payload, expect }) => {
  const { value } = parseItem(itemSpec(item), payload, 'wire', 'www.example.com')
  return (value === null ? 'reject' : 'accept') === expect
})
console.log(JSON.stringify(judged))
`

describe('npm run new-item', () => {
  const place = mkdtempSync(join(tmpdir(), 'edgewise-new-item-'))
  const options = { cwd: place, encoding: 'utf8' } as const
  const run = (...args: string[]) => execFileSync(process.execPath, args, options)
  const tsx = (...args: string[]) => run('--import', 'tsx', ...args)

  beforeAll(() => {
    for (const path of copied) cpSync(join(root, path), join(place, path), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'))
    writeFileSync(join(place, 'judge.ts'), judge)
    tsx('tools/new-item.ts', 'plain_item')
    tsx('tools/new-item.ts', 'checked_item', '--file')
    tsx('tools/generate.ts')
  })
  afterAll(() => rmSync(place, { recursive: true }))

  it('writes rows that compile', () => {
    const config = { extends: './tsconfig.json', include: ['src/catalog'] }
    writeFileSync(join(place, 'tsconfig.catalog.json'), JSON.stringify(config))
    run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.catalog.json')
  })

  it.each(['plain_item', 'checked_item'])('writes cases that its rules meet: %s', (item) => {
    expect(JSON.parse(tsx('judge.ts', item))).toEqual([true, true])
  })
})
