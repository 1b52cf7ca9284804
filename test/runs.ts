import * as fc from 'fast-check'
import { it, TestRunner } from 'vitest'

/** Seed of all random choices of the tests: always the same, or EDGEWISE_TEST_SEED. */
export const seed = Number(process.env['EDGEWISE_TEST_SEED'] ?? 1)

/** Factor for the tries of the longer checks; 0 outside them. */
const times = Number(process.env['EDGEWISE_TEST_RUNS'] ?? 0)

/** Whether this is a run of the longer checks. */
export const long = times > 0

/** Whether they are run at full size, not by a part of it as in CI. */
export const full = times >= 1

fc.configureGlobal({ seed })
export { fc }

type Test = () => void | Promise<void>

/** Defines a test that the longer checks run again, with more tries. */
export function itOften(title: string, test: Test): void {
  it(title, { tags: 'often' }, test)
}

/** Defines a test that only the longer checks run. */
export function itLong(title: string, test: Test): void {
  it.runIf(long)(title, { tags: 'often' }, test)
}

/**
 * How often a test tries something: `few` times in `npm test`, and `many` times EDGEWISE_TEST_RUNS
 * in the longer checks.
 *
 * @throws Error in a test without the tag `often`, which the longer checks would pass over
 */
export function runs(few: number, many: number): number {
  expectTag()
  return long ? Math.ceil(many * times) : few
}

/**
 * Every `step`th of a list; in the longer checks all, or the part that EDGEWISE_TEST_RUNS says.
 *
 * @throws Error in a test without the tag `often`
 */
export function everyNth<T>(list: readonly T[], step: number): readonly T[] {
  expectTag()
  const own = long ? Math.min(step, Math.ceil(1 / times)) : step
  return list.filter((_, i) => i % own === 0)
}

/**
 * One of a list for the `i`th of many tests, so that together they use all of it; the whole list
 * with EDGEWISE_TEST_RUNS from 3 on.
 */
export function pick<T>(list: readonly T[], i: number): readonly T[] {
  return times >= 3 ? list : list.filter((_, j) => j === i % list.length)
}

function expectTag(): void {
  const test = TestRunner.getCurrentTest()
  if (test?.tags?.includes('often') !== true)
    throw new Error(`expected the tag "often" on the test ${test?.name ?? '(outside of a test)'}`)
}

const [surrogates, surrogateCount, codePoints] = [0xd800, 0x800, 0x110000]

/**
 * Any code point but surrogates, as text: `unit: 'binary'` of fast-check, without its table of all
 * of them, which takes a second and 100 MB in each process.
 */
export const anyCharacter = fc.nat({ max: codePoints - surrogateCount - 1 }).map(
  (n) => String.fromCodePoint(n < surrogates ? n : n + surrogateCount),
  (text) => {
    const point = typeof text === 'string' ? text.codePointAt(0) : undefined
    if (point === undefined || text !== String.fromCodePoint(point) || /\p{Cs}/u.test(text))
      throw new Error('expected one character')
    return point < surrogates ? point : point - surrogateCount
  },
)
