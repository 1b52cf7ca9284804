// @module-tag often
// @module-tag nightly
import { expect, it } from 'vitest'
import { itOften, runs, seed } from '../runs.ts'
import { runFuzz } from './run-fuzz.ts'

itOften('mutated inputs are refused with a sentence, or accepted without a defect', async () => {
  const cases = runs(13, 3000)
  const { failures, counts } = await runFuzz({ seed, isOver: (done) => done >= cases })
  expect(failures).toEqual([])
  expect([...counts.values()].reduce((sum, each) => sum + each.cases, 0)).toBe(cases)
})

it('the same seed gives the same cases', async () => {
  const list = async () => {
    const names: string[] = []
    const begin = (kind: string, number: number) => void names.push(`${kind}:${number}`)
    const { counts } = await runFuzz({ seed, begin, isOver: (done) => done >= 8 })
    return { names, counts }
  }
  expect(await list()).toEqual(await list())
})
