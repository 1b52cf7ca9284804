import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { groupWrites } from '../../src/plan/group-writes.ts'
import { plannerVersion } from '../../src/plan/make-plan.ts'
import { families, type Mix } from '../../tools/fleet-mixes.ts'
import { need, replace } from './problems.ts'

interface Instance {
  needs: Mix
}

/** Hash of the writes that each planner version makes for small change mixes and for a fleet. */
const fingerprints: Record<number, string> = {
  2: '3cc362516fd0e8c2630b3a73a39ea0ad8567993e2a9a0973e6742ff645dfe0a3',
  3: 'ef2388445f8693fee24944f65c0578d2d359d946052ae9886821d24443cfef75',
}

it('makes the same writes (if not, raise plannerVersion and add its hash)', () => {
  const text = readFileSync(new URL('../bench/instances.json', import.meta.url), 'utf8')
  const hash = createHash('sha256')
  const small = (JSON.parse(text) as Instance[]).map(({ needs }) => needs)
  for (const needs of [...small, families['layered']?.(700, 3) ?? []]) {
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
