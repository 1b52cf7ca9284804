// @module-tag often
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { groupWrites } from '../../src/core/plan/group-writes.ts'
import { plannerVersion } from '../../src/core/plan/make-plan.ts'
import { writeInWaves } from '../../src/core/plan/write-in-waves.ts'
import { families, type Mix } from './fleet-mixes.ts'
import { buildFleet } from './build-fleet.ts'
import { need, replace } from './problems.ts'

interface Instance {
  needs: Mix
}

/** Hash of the writes that each planner version makes for small change mixes and for a fleet. */
const fingerprints: Record<number, string> = {
  1: '92db2e020e481f6f31624b5d606cd1c300861f16f5b869616f561444a4aa61a8',
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

/** Hash of the waves that each planner version makes for fleets. */
const waveFingerprints: Record<number, string> = {
  1: '8cff6c2ab336bb4c107325b9accf597fb6053ebadad02fa8885fbb94b4328b07',
}

it('makes the same waves (if not, raise plannerVersion and add its hash)', () => {
  const hash = createHash('sha256')
  for (const family of ['planted', 'zipf']) {
    const { writes } = writeInWaves(buildFleet(family, 60), {
      amounts: [{ count: 1 }, { percent: 25 }, { percent: 100 }],
    })
    hash.update(JSON.stringify(writes))
  }
  expect(hash.digest('hex')).toBe(waveFingerprints[plannerVersion])
})
