import { expect, it } from 'vitest'
import { drawMutations, listMutations } from '../../tools/mutations/draw.ts'
import {
  findFile,
  formatMutations,
  loadMutations,
  mutate,
  parseMutations,
} from '../../tools/mutations/list.ts'
import { parseReport } from '../../tools/mutations/scratch.ts'

it.each([
  ['if (a) b()', ['if (!(a)) b()', 'if (a) void 0']],
  ['const x = a < b', ['const x = a <= b']],
  ['const x = a === 1', ['const x = a !== 1', 'const x = a === 2']],
  ['const x = a < b ? -1 : 1', ['const x = !(a < b) ? -1 : 1', 'const x = a <= b ? -1 : 1']],
  ['while (a) a = next()', ['while (!(a)) a = next()']],
  ['const x = a ? b : c', ['const x = !(a) ? b : c']],
  ['await send()', ['void 0']],
  ['const x = list.filter(isNew)', ['const x = list']],
  ['const x = { deep: true }', ['const x = { deep: false }']],
  ['throw new Error(`in ${a + b}`)', []],
  ['const text = `${a + b}`', []],
  ['type X = 1 | 2', []],
  ["import { a } from './a.ts'", []],
  ['// if (a) b()', []],
  ["const text = 'some text'", []],
])('of %j, %j are mutations', (text, expected) => {
  expect(listMutations('a.ts', `${text}\n`).map(({ after }) => after)).toEqual(expected)
})

const text = 'if (a) {\n  end(1)\n}\nelse {\n    end(1)\n}\n'
const [first, second] = listMutations('src/a.ts', text).filter(({ after }) => after === 'end(2)')

it('a mutation is found by the text of its line, which may move', () => {
  if (first === undefined || second === undefined) throw new Error('expected two mutations')
  expect([first.occurrence, second.occurrence]).toEqual([1, 2])
  expect(mutate(text, second)).toBe('if (a) {\n  end(1)\n}\nelse {\n    end(2)\n}\n')
  expect(mutate(`\n\n  ${text}`, first)).toBe(`\n\n  ${text.replace('end(1)', 'end(2)')}`)
  expect(mutate('end(1)\n', second)).toBeNull()
  const moved = new Map([['src/b.ts', 'b()\n  end(1)\n']])
  expect(findFile(first, new Map([['src/a.ts', text], ...moved]))).toBe('src/a.ts')
  expect(findFile(first, moved)).toBe('src/b.ts')
  expect(findFile(first, new Map([...moved, ['src/c.ts', 'end(1)\n']]))).toBeNull()
  expect(findFile(first, new Map([['src/a.ts', 'b()\n']]))).toBeNull()
})

it('a list is drawn by its seed, over all rooms, and is stored', () => {
  const sources = new Map(
    ['core/plan', 'core/diff', 'cli'].map((room, i) => [
      `src/${room}/a.ts`,
      'a(1)\n'.repeat(9 * i + 4),
    ]),
  )
  const drawn = drawMutations(sources, 12, 'one')
  expect(drawn).toHaveLength(12)
  expect(new Set(drawn.map(({ path }) => path)).size).toBe(3)
  expect(drawMutations(sources, 12, 'one')).toEqual(drawn)
  expect(drawMutations(sources, 12, 'two')).not.toEqual(drawn)
  expect(parseMutations(formatMutations(drawn))).toEqual(drawn)
  expect(loadMutations().length).toBeGreaterThanOrEqual(200)
})

it('the report of the test runner says which test failed, or which files ran', () => {
  const result = (name: string, status: string, ...tests: string[]) => ({
    name,
    status,
    message: 'no such module\nat …',
    assertionResults: tests.map((each) => ({ status: each, fullName: `a test that ${each}` })),
  })
  const passed = result('/x/test/a.test.ts', 'passed', 'passed')
  const parse = (status: number, ...testResults: ReturnType<typeof result>[]) =>
    parseReport('/x', status, { testResults })
  expect(parse(0, passed)).toEqual({ passed: ['test/a.test.ts'] })
  expect(parse(1, passed, result('/x/test/b.test.ts', 'failed', 'passed', 'failed'))).toEqual({
    failed: 'a test that failed',
    file: 'test/b.test.ts',
  })
  expect(parse(1, result('/x/test/c.test.ts', 'failed'))).toEqual({
    failed: 'no such module',
    file: 'test/c.test.ts',
  })
  expect(parse(1, passed)).toEqual({ failed: 'exit code 1', file: '' })
})
