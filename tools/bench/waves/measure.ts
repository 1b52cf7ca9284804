/**
 * Measures waves by traffic on simulated rollouts: how many rises are detected that the plan called
 * detectable, how many stops had a cause, and how many requests were exposed.
 */
import type { BenchOptions } from '../arguments.ts'
import { createRow, formatShare, formatTable, type Row } from '../row.ts'
import { families } from './series.ts'
import { simulate, type Simulated } from './simulate.ts'

export async function measureWaves({ rollouts }: BenchOptions): Promise<Row[]> {
  const all: Simulated[] = []
  const perFamily = Math.ceil((rollouts ?? 1000) / families.length)
  const lines: string[][] = []
  for (const [i, family] of families.entries()) {
    const own: Simulated[] = []
    for (let n = 0; n < perFamily; n++) own.push(await simulate(i * 1_000_000 + n, family))
    lines.push(format(family.name, own))
    all.push(...own)
  }
  const head = ['series', 'rollouts', 'detectable', 'found', 'false stops', 'precision']
  const more = ['rise', 'first wave', 'exposed, median', '95 %', 'most beyond']
  console.log(`${formatTable([[...head, ...more], ...lines, format('all', all)])}\n`)
  const { called, found, stops, causes, exposed } = judge(all)
  const wide = exposed.filter(({ share, limit }) => share > limit)
  return [
    createRow('waves-missed', 'detectable rises missed', '', 1 - found / called, 0.01),
    createRow('waves-false', 'stops without a cause', '', 1 - causes / stops, 0.05),
    createRow('waves-exposed', 'stops beyond 2 % or the smallest', '', wide.length, 0),
  ]
}

/** Judges rollouts: the rises called detectable, stops, and what was exposed by them. */
function judge(simulated: Simulated[]) {
  const reached = simulated.flatMap((each) => {
    const called = each.waves.find(
      ({ traffic }) => traffic?.detects !== undefined && traffic.detects.rise <= each.rise,
    )?.wave
    const isReached = called !== undefined && (each.worse !== null || each.sent >= called)
    return isReached ? [{ ...each, called }] : []
  })
  const found = reached.filter(({ worse, called }) => worse !== null && worse <= called)
  const stopped = simulated.filter(({ worse }) => worse !== null)
  return {
    called: reached.length,
    found: found.length,
    stops: stopped.length,
    causes: stopped.filter(({ rise }) => rise > 0).length,
    exposed: found.flatMap(({ called, exposed: share, smallest }) =>
      called === 1 ? [{ share, limit: Math.max(0.02, smallest) }] : [],
    ),
  }
}

function format(name: string, simulated: Simulated[]): string[] {
  const { called, found, stops, causes, exposed } = judge(simulated)
  const shares = exposed.map(({ share }) => share).toSorted((a, b) => a - b)
  const at = (list: number[], part: number) => list[Math.floor(list.length * part)] ?? NaN
  const firsts = simulated.flatMap(({ waves }) => waves[0]?.traffic?.detects?.rise ?? [])
  return [
    name,
    String(simulated.length),
    String(called),
    formatShare(found / called),
    String(stops - causes),
    formatShare(causes / stops),
    `+${at(
      firsts.toSorted((a, b) => a - b),
      0.5,
    )}`,
    formatShare(firsts.length / simulated.length),
    ...[0.5, 0.95].map((part) => formatShare(at(shares, part))),
    String(exposed.filter(({ share, limit }) => share > limit).length),
  ]
}
