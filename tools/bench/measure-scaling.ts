import { rmSync } from 'node:fs'
import { writeFleet } from './fleet.ts'
import { adoptFleet } from './measure-manifests.ts'
import { measureState } from './measure-state.ts'
import { findMedian } from './measure.ts'
import { createRow, type Row } from './row.ts'
import type { Workbench } from './workbench.ts'

type Work = 'validate' | 'plan' | 'first-plan' | 'load-dir' | 'save-dir' | 'load-git' | 'save-git'

const labels: Record<Work, string> = {
  validate: 'validate, cold, CPU',
  plan: 'plan with nothing to do, cold, CPU',
  'first-plan': 'first plan, CPU',
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
    ...own.map(({ size, seconds }) =>
      createRow(`scaling-${work}-${size}`, `${labels[work]}: ${size} domains`, 's', seconds),
    ),
    createRow(
      `scaling-${work}-exponent`,
      `${labels[work]}: exponent`,
      '',
      computeExponent(own),
      1.15,
    ),
  ])
}

/** Seconds of a piece of work at a size. */
export interface Sample {
  size: number
  seconds: number
}

/**
 * Computes how fast the time grows with the size: the slope of a straight line, by least squares,
 * through the logarithms of size and seconds of the three largest sizes, which are two decades. 1
 * is linear; the fixed cost of a start makes it smaller.
 *
 * @throws Error for fewer than two sizes
 */
export function computeExponent(samples: Sample[]): number {
  const points = samples
    .toSorted((a, b) => a.size - b.size)
    .slice(-3)
    .map(({ size, seconds }) => ({ x: Math.log10(size), y: Math.log10(seconds) }))
  if (points.length < 2) throw new Error('an exponent needs two sizes')
  const sum = (pick: (point: { x: number; y: number }) => number) =>
    points.reduce((total, point) => total + pick(point), 0)
  const [x, y] = [sum((point) => point.x) / points.length, sum((point) => point.y) / points.length]
  return sum((point) => (point.x - x) * (point.y - y)) / sum((point) => (point.x - x) ** 2)
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
    add('first-plan', bench.edgewiseCold(fresh, ['plan']).cpu)
    for (const kind of ['dir', 'git'] as const) {
      const { load, save } = await measureState(kind, size)
      add(`load-${kind}`, load)
      add(`save-${kind}`, save)
    }
  }
  for (const made of [folder, fresh]) rmSync(made, { recursive: true })
  return [...seconds].map(([work, values]) => [work, findMedian(values)])
}
