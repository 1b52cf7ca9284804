/**
 * Measures the health check on faults and disturbances of several shapes: the share of faults that
 * are found, that of stops that had a cause, and the requests that were exposed at a stop. Some
 * seeds are for work on the check; the others are unseen, and only measured.
 */
import type { BenchOptions } from '../arguments.ts'
import { createRow, formatShare, formatTable, type Row } from '../row.ts'
import { disturbances, faultShapes } from './disturb.ts'
import { type Shaped, simulateShape } from './shapes.ts'

/** First seeds. No work on the health check looks at single rollouts of the unseen ones. */
export const firstSeeds = { tuning: 1_000_000, unseen: 77_000_000 }

export async function measureShapes(
  { rollouts }: Pick<BenchOptions, 'rollouts'>,
  seeds: keyof typeof firstSeeds,
): Promise<Row[]> {
  const all: Shaped[] = []
  for (let n = 0; n < (rollouts ?? 1000); n++) all.push(await simulateShape(firstSeeds[seeds] + n))
  const faults = [...faultShapes].map((shape) =>
    format(
      shape,
      all.filter((each) => each.shape === shape),
    ),
  )
  const others = [null, ...disturbances].map((kind) =>
    format(
      kind ?? 'nothing',
      all.filter((each) => each.shape === null && each.disturbance === kind),
    ),
  )
  const head = ['rollouts', 'found', 'false stops', 'precision', 'exposed, median', '75 %']
  console.log(
    `${formatTable([['fault', ...head], ...faults])}\n\n` +
      `${formatTable([['without a fault', ...head], ...others, format('all', all)])}\n`,
  )
  const { recall, precision, exposed } = summarize(all)
  return [
    createRow(`shapes-missed`, `faults missed (${seeds} seeds)`, '', 1 - recall, 0.03),
    createRow(`shapes-false`, 'stops without a cause', '', 1 - precision, 0.03),
    createRow(`shapes-exposed`, 'exposed at a stop, 75 %', '', findQuantile(exposed, 0.75), 0.05),
  ]
}

function summarize(simulated: Shaped[]) {
  // A stop before the fault could be seen is a false one, and no miss.
  const faulty = simulated.filter(
    ({ shape, isStopped, hasCause }) => shape !== null && (hasCause || !isStopped),
  )
  const stops = simulated.filter(({ isStopped }) => isStopped)
  const found = stops.filter(({ shape, hasCause }) => shape !== null && hasCause)
  return {
    recall: found.length / faulty.length,
    precision: found.length / stops.length,
    falseStops: stops.length - found.length,
    exposed: found.map((each) => each.exposed).toSorted((a, b) => a - b),
  }
}

function findQuantile(sorted: number[], part: number): number {
  return sorted[Math.floor(sorted.length * part)] ?? NaN
}

function format(name: string, simulated: Shaped[]): string[] {
  const { recall, precision, falseStops, exposed } = summarize(simulated)
  const share = (value: number) => (Number.isNaN(value) ? '' : formatShare(value))
  return [
    name,
    String(simulated.length),
    share(recall),
    String(falseStops),
    share(precision),
    ...[0.5, 0.75].map((part) => share(findQuantile(exposed, part))),
  ]
}
