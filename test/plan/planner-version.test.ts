import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { groupWrites } from '../../src/plan/group-writes.ts'
import { plannerVersion } from '../../src/plan/make-plan.ts'
import { need, replace } from './problems.ts'

interface Instance {
  needs: [item: string, value: number][][]
}

/** Hash of the writes that each planner version makes for the change mixes of the benchmark. */
const fingerprints: Record<number, string> = {
  1: '05052dbd04418b712aefa646103b1d98361ff27e3595337dd6504fabbe92d81a',
}

it('makes the same writes (if not, raise plannerVersion and add its hash)', () => {
  const text = readFileSync(new URL('../bench/instances.json', import.meta.url), 'utf8')
  const hash = createHash('sha256')
  for (const { needs } of JSON.parse(text) as Instance[]) {
    const problem = needs.flatMap((own, i) =>
      own.map(([item, value]) => need(i, item, replace(value))),
    )
    const { writes } = groupWrites({
      needs: problem,
      grouping: { groups: 'all', together: [] },
      domainsPerWrite: 10,
      effort: 'quick',
      solver: null,
    })
    hash.update(JSON.stringify(writes))
  }
  expect(hash.digest('hex')).toBe(fingerprints[plannerVersion])
})
