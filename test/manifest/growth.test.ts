// @module-tag often
import { expect } from 'vitest'
import { loadTests } from '../../src/manifest/tests/load-tests.ts'
import { checkMoved, findMovedProblems } from '../../src/manifest/workspace-file/moved-domains.ts'
import { findMoves } from '../../src/state/store/moved-domains.ts'
import { itLong } from '../runs.ts'
import { createFolder, listGlobs } from './test-workspace.ts'

const count = (n: number, format: (i: number) => string) =>
  Array.from({ length: n }, (_, i) => format(i)).join('')

/** Measures work on `few` entries, and on eight times as many: the ratio of its best times. */
async function measureGrowth(
  name: string,
  few: number,
  prepare: (entries: number) => () => unknown,
): Promise<number> {
  const measure = async (entries: number): Promise<number> => {
    const work = prepare(entries)
    let best = Infinity
    for (let round = 0; round < 5; round++) {
      const begin = process.cpuUsage()
      await work()
      // How a few ms are divided into these two is chance; only their sum is measured.
      const { user, system } = process.cpuUsage(begin)
      best = Math.min(best, (user + system) / 1e3)
    }
    return best
  }
  const one = await measure(few)
  const eight = await measure(8 * few)
  console.log(`${name}: ${one.toFixed(0)} ms, 8 times as many: ${eight.toFixed(0)} ms`)
  return eight / one
}

const moves = (n: number) =>
  Array.from({ length: n }, (_, i) => ({ from: `a${i}.example.com`, to: `b${i}.example.com` }))

itLong('moved domains take time in proportion to their number', async () => {
  const document = (n: number) => ({
    file: { path: 'edgewise.yaml', text: `moved:\n${count(n, () => '  - {from: a, to: b}\n')}` },
    index: 0,
    value: null,
  })
  const growth = [
    await measureGrowth('rules', 8000, (n) => () => checkMoved(moves(n))),
    await measureGrowth('problems', 2000, (n) => {
      const [own, list] = [document(n), moves(n)]
      return () => findMovedProblems(list, own, new Map())
    }),
    await measureGrowth('state', 4000, (n) => {
      const list = moves(n)
      const recorded = new Map(
        list.flatMap(({ from, to }) => [
          [from, new Map()],
          [to, new Map()],
        ]),
      )
      const done = list.map((move) => ({ ...move, at: '2026-01-01T00:00:00.000Z' }))
      return () => findMoves(list, recorded, async () => done)
    }),
  ]
  // Measured times differ; a search of each among all takes 64 times.
  for (const each of growth) expect(each).toBeLessThan(30)
})

itLong('tests take time in proportion to their number', async () => {
  const test = (i: number, expected: string) =>
    `---\ntest: t${i}\ndomains: [a.example.com]\nrequests:\n` +
    `  - {url: "https://a.example.com/${i}", expect: {${expected}: 1}}\n`
  const build = (n: number, expected: string, isOneFile: boolean) => {
    const texts = Array.from({ length: n }, (_, i) => test(i, expected))
    return createFolder({
      'edgewise.yaml': 'version: 1\n',
      ...(isOneFile
        ? { 'tests/all.yaml': texts.join('') }
        : Object.fromEntries(texts.map((text, i) => [`tests/t${i}.yaml`, text]))),
    })
  }
  for (const expected of ['cache.seconds', 'nonsense'])
    for (const isOneFile of [true, false]) {
      const name = `${expected}, ${isOneFile ? 'one file' : 'a file each'}`
      const growth = await measureGrowth(name, 200, (n) => {
        const root = build(n, expected, isOneFile)
        return () => loadTests(root, listGlobs())
      })
      expect(growth).toBeLessThan(30)
    }
})
