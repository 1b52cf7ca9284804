import { setTimeout as sleep } from 'node:timers/promises'
import type { BenchOptions } from './arguments.ts'
import { createRow, type Row } from './row.ts'
import { measureCpu, withServed } from './served.ts'
import type { Workbench } from './workbench.ts'

const minutes = 5

/** Measures what `edgewise serve` costs in an hour in which nothing happens, from some minutes. */
export async function measureIdle(bench: Workbench, { domains }: BenchOptions): Promise<Row[]> {
  const size = domains ?? 10_000
  return withServed(bench, size, async (replica, counted) => {
    const { pid = 0 } = replica.process
    // Some minutes later, everything has settled.
    await sleep(60_000)
    const before = { cpu: measureCpu(pid, 'with-children'), ...counted() }
    await sleep(minutes * 60_000)
    const after = { cpu: measureCpu(pid, 'with-children'), ...counted() }
    const perHour = (name: keyof typeof before) => ((after[name] - before[name]) * 60) / minutes
    const what = `an idle hour of serve with ${size} domains`
    return [
      createRow('idle-cpu', `${what}: CPU, git included`, 's', perHour('cpu')),
      createRow('idle-statements', `${what}: statements`, '', Math.round(perHour('statements'))),
      createRow('idle-bytes', `${what}: from the database`, 'MB', perHour('bytes') / 1e6),
    ]
  })
}
