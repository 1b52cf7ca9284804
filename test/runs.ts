import * as fc from 'fast-check'
import { it, TestRunner } from 'vitest'

/** Seed of all random choices of the tests: always the same, or EDGEWISE_TEST_SEED. */
export const seed = Number(process.env['EDGEWISE_TEST_SEED'] ?? 1)

/** Whether the longer checks run, which try everything as often as they can. */
export const long = process.env['EDGEWISE_TEST_RUNS'] !== undefined

fc.configureGlobal({ seed })
export { fc }

/** A test that the longer checks run again, with more tries. */
export function itOften(title: string, test: () => unknown): void {
  it(title, { tags: 'often' }, () => test() as void)
}

/**
 * How often a test tries something: `n` times, and EDGEWISE_TEST_RUNS times as often in the longer
 * checks.
 *
 * @throws Error in a test without the tag `often`, which the longer checks would pass over
 */
export function runs(n: number): number {
  expectTag()
  return n * Number(process.env['EDGEWISE_TEST_RUNS'] ?? 1)
}

/**
 * Every `step`th of a list, and all in the longer checks.
 *
 * @throws Error in a test without the tag `often`
 */
export function everyNth<T>(list: readonly T[], step: number): readonly T[] {
  expectTag()
  return long ? list : list.filter((_, i) => i % step === 0)
}

function expectTag(): void {
  const test = TestRunner.getCurrentTest()
  if (test?.tags?.includes('often') !== true)
    throw new Error(`expected the tag "often" on the test ${test?.name ?? '(outside of a test)'}`)
}
