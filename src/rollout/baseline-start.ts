import type { Domain, ItemKey } from '../model/item.ts'
import { grainMs } from '../model/statistics.ts'
import type { RecordedItem, RecordedState } from '../state/store.ts'
import type { HealthConfig } from '../model/config.ts'

/**
 * Finds the earliest time at which a wave has a baseline, ms since 1970 by the service's clock. The
 * baseline's window, and a settling time before it, must be free of writes to the wave's domains:
 * otherwise the effect of a recent change, such as one that was just rolled back, would count as
 * normal.
 *
 * @param now the service's time
 * @param skewMs this machine's clock less the service's, for times without the service's
 */
export function findBaselineStart(
  domains: Domain[],
  recorded: RecordedState,
  now: number,
  skewMs: number,
  rule: HealthConfig,
): number {
  const writtenMs = domains.flatMap((domain) =>
    [...(recorded.get(domain)?.values() ?? [])].flatMap((item) =>
      item.origin === 'write' ? [Math.min(now, findWriteTime(item, skewMs))] : [],
    ),
  )
  const lastWriteMs = writtenMs.reduce((latest, each) => Math.max(latest, each), -Infinity)
  // Windows are whole periods, and end at the beginning of a period.
  const periods = Math.max(1, Math.ceil((rule.window * 1000) / grainMs[rule.grain])) + 1
  return Math.max(now, lastWriteMs + rule.settle * 1000 + periods * grainMs[rule.grain])
}

/**
 * Finds the time of a write by the service's clock. An item of an earlier version has only that of
 * some machine; the later of its two possible times leaves the longer baseline.
 */
function findWriteTime({ at, serviceAt }: RecordedItem, skewMs: number): number {
  if (serviceAt !== undefined) return Date.parse(serviceAt)
  return Math.max(Date.parse(at), Date.parse(at) - skewMs)
}

/** Maximum number of controls: enough for their median. */
const maxControls = 30

/**
 * Chooses controls for a wave: recorded domains outside of it that were not written since a time,
 * spread over their names.
 *
 * @param since the service's time, ms since 1970
 */
export function chooseControls(
  domains: Domain[],
  recorded: RecordedState,
  since: number,
  skewMs: number,
): Domain[] {
  const own = new Set(domains)
  const still = [...recorded]
    .filter(([domain, items]) => !own.has(domain) && !wasWritten(items, since, skewMs))
    .map(([domain]) => domain)
    .toSorted()
  const step = Math.max(1, still.length / maxControls)
  return still.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step))
}

function wasWritten(
  items: ReadonlyMap<ItemKey, RecordedItem>,
  since: number,
  skewMs: number,
): boolean {
  return [...items.values()].some(
    (item) => item.origin === 'write' && findWriteTime(item, skewMs) >= since,
  )
}
