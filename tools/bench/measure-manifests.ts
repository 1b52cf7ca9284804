import { join } from 'node:path'
import { writeConfigs, writeFleet, writeManifest } from './fleet.ts'
import { compareCosts, measureInTurn } from './measure.ts'
import type { Row } from './row.ts'
import type { Workbench } from './workbench.ts'

/** Measures a cold `validate` of a fleet beside the parsing of its files with `yaml`. */
export function measureValidate(
  bench: Workbench,
  domains: number,
  rounds: number,
  goals: { cpu: number | null; wall: number | null },
): Row[] {
  const folder = bench.makeFolder('validate')
  writeFleet(folder, domains, 'state: {store: dir}')
  const costs = measureInTurn(
    {
      base: () => bench.parse(folder),
      cold: () => bench.edgewiseCold(folder, ['validate']),
    },
    rounds,
  )
  return (['cpu', 'wall'] as const).map((by) => ({
    id: `validate-${domains}-${by}`,
    what: `validate of ${domains} manifests, cold / yaml, ${by === 'cpu' ? 'CPU' : 'wall'}`,
    unit: 's',
    ...compareCosts(costs.cold, costs.base, by),
    goal: goals[by],
  }))
}

/**
 * Measures a plan with nothing to do beside the parsing of the manifests with `yaml`: with no file
 * changed since the last command, and with ten.
 */
export function measurePlan(bench: Workbench, domains: number, rounds: number): Row[] {
  const folder = adoptFleet(bench, domains, 'state: {store: dir}')
  const plan = () => bench.edgewise(folder, ['plan', '--detailed-exitcode'])
  plan()
  const costs = measureInTurn(
    {
      base: () => bench.parse(folder),
      none: plan,
      ten: (round) => {
        for (let i = 0; i < 10; i++) writeManifest(folder, 10 * i, round + 1)
        return plan()
      },
    },
    rounds,
  )
  return (['none', 'ten'] as const).map((files) => ({
    id: `plan-${domains}-${files}`,
    what: `plan of ${domains}, ${files === 'none' ? 'no file' : 'ten files'} changed / yaml, CPU`,
    unit: 's',
    ...compareCosts(costs[files], costs.base),
    goal: 0.7,
  }))
}

/** Measures the CPU ratios of a cold `validate` and of a plan with nothing to do, in turn. */
export function measureFleet(bench: Workbench, domains: number, rounds: number): Row[] {
  const folder = adoptFleet(bench, domains, 'state: {store: dir}')
  const plan = () => bench.edgewise(folder, ['plan', '--detailed-exitcode'])
  plan()
  const costs = measureInTurn(
    {
      base: () => bench.parse(folder),
      validate: () => bench.edgewiseCold(folder, ['validate']),
      plan,
    },
    rounds,
  )
  const kinds = { validate: 'cold', plan: 'no file changed' }
  return (['validate', 'plan'] as const).map((command) => ({
    id: `${command}-${domains}`,
    what: `${command} of ${domains}, ${kinds[command]} / yaml, CPU`,
    unit: 's',
    ...compareCosts(costs[command], costs.base),
    goal: null,
  }))
}

/** Measures the peak memory of a plan with nothing to do: without and with a cache. */
export function measurePlanMemory(bench: Workbench, domains: number): Row[] {
  const folder = adoptFleet(bench, domains, 'state: {store: dir}')
  const rows = []
  for (const kind of ['cold', 'cached']) {
    const measured = bench.measurePeak(folder, ['plan', '--detailed-exitcode'], kind === 'cold')
    rows.push({
      id: `plan-memory-${kind}`,
      what: `peak memory of a plan of ${domains}, ${kind}`,
      unit: 'MB' as const,
      measured,
      base: null,
      ratio: null,
      goal: 300,
    })
  }
  return rows
}

/** Creates a workspace whose state is that of its manifests: nothing is left to do. */
export function adoptFleet(bench: Workbench, domains: number, settings: string): string {
  const folder = bench.makeFolder(`fleet-${domains}`)
  writeFleet(folder, domains, settings)
  const file = join(bench.home, 'configs.json')
  writeConfigs(file, domains)
  bench.edgewise(folder, ['import', file, '--yes'])
  return folder
}
