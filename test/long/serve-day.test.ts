// @module-tag often
// @module-tag nightly
import { expect, it } from 'vitest'
import { measureHeap } from '../measure-heap.ts'
import { simulateDay } from '../simulation/serve/day.ts'

it('two replicas keep a fleet in sync for hours of faults, in flat memory', async () => {
  const heaps: number[] = []
  const onHour = () => heaps.push(measureHeap())
  const { violations, counts, named } = await simulateDay({
    seed: 1,
    domains: 40,
    hours: 12,
    onHour,
  })
  expect(violations).toEqual([])
  // The domains of the last, bad commit.
  expect(named.length).toBeGreaterThan(0)
  expect([...named].every((name) => name.endsWith('pending, on hold, verified'))).toBe(true)
  for (const event of ['commit: dead origin', 'changed by hand', 'replica: killed'])
    expect(counts.get(event), event).toBeGreaterThan(0)
  const [fourth = 0, last = 0] = [heaps[3], heaps.at(-1)]
  expect(last).toBeLessThan(1.25 * fourth)
})
