import { rmSync } from 'node:fs'
import { computeExponent, type Sample } from './exponent.ts'
import { writeFleet } from './fleet.ts'
import { adoptFleet } from './measure-manifests.ts'
import { measureState } from './measure-state.ts'
import { findMedian } from './measure.ts'
import type { Row } from './row.ts'
import type { Workbench } from './workbench.ts'

type Work = 'validate' | 'plan' | 'first-plan' | 'load-dir' | 'save-dir' | 'load-git' | 'save-git'

const labels: Record<Work, string> = {
  validate: 'validate, cold, CPU',
  plan: 'plan with nothing to do, cold, CPU',
  'first-plan': 'first plan, --effort quick, CPU',
  'load-dir': 'load the state, folder',
  'save-dir': 'save the state, folder',
  'load-git': 'load the state, git',
  'save-git': 'save the state, git',
}

/** Measures how the time of commands and stores grows with the number of domains. */
export async function measureScaling(bench: Workbench, sizes: number[]): Promise<Row[]> {
  const samples = new Map<Work, Sample[]>()
  for (const size of sizes)
    for (const [work, seconds] of await measureSize(bench, size))
      samples.set(work, [...(samples.get(work) ?? []), { size, seconds }])
  return [...samples].flatMap(([work, own]): Row[] => [
    ...own.map(({ size, seconds }): Row => ({
      id: `scaling-${work}-${size}`,
      what: `${labels[work]}: ${size} domains`,
      unit: 's',
      measured: seconds,
      base: null,
      ratio: null,
      goal: null,
    })),
    {
      id: `scaling-${work}-exponent`,
      what: `${labels[work]}: exponent`,
      unit: '',
      measured: computeExponent(own),
      base: null,
      ratio: null,
      goal: 1.15,
    },
  ])
}

/** Measures all work at one size: the median of five, of three at 10,000, one at 100,000. */
async function measureSize(bench: Workbench, size: number): Promise<[Work, number][]> {
  const rounds = size > 10_000 ? 1 : size > 1000 ? 3 : 5
  const folder = adoptFleet(bench, size, 'state: {store: dir}')
  const fresh = bench.makeFolder('fresh')
  writeFleet(fresh, size, 'state: {store: dir}')
  const seconds = new Map<Work, number[]>()
  const add = (work: Work, value: number) =>
    seconds.set(work, [...(seconds.get(work) ?? []), value])
  for (let round = 0; round < rounds; round++) {
    add('validate', bench.edgewiseCold(folder, ['validate']).cpu)
    add('plan', bench.edgewiseCold(folder, ['plan', '--detailed-exitcode']).cpu)
    add('first-plan', bench.edgewiseCold(fresh, ['plan', '--effort', 'quick']).cpu)
    for (const kind of ['dir', 'git'] as const) {
      const { load, save } = await measureState(kind, size)
      add(`load-${kind}`, load)
      add(`save-${kind}`, save)
    }
  }
  for (const made of [folder, fresh]) rmSync(made, { recursive: true })
  return [...seconds].map(([work, values]) => [work, findMedian(values)])
}
