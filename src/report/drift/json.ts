import type { PatchOperation } from '../../model/change.ts'
import type { Drift, DriftItem } from '../../model/drift.ts'
import { pickDefined, type Json, type JsonObject } from '../../model/json.ts'

/** Drift as machine output, `edgewise.drift/1`. */
export function buildDriftJson(drift: Drift): JsonObject {
  const { held, ...summary } = summarizeDrift(drift)
  return {
    format: 'edgewise.drift/1',
    items: drift.items.map(itemJson),
    summary: { ...summary, ...(held === 0 ? {} : { held }) },
  }
}

/** Counts of items. */
export interface DriftSummary {
  verified: number
  assumed: number
  inDoubt: number
  pending: number
  live: number
  /** Of those that are pending. */
  held: number
}

/** How many items are known how well, and how many differ how. */
export function summarizeDrift({ items }: Drift): DriftSummary {
  const count = { verified: 0, assumed: 0, inDoubt: 0, pending: 0, live: 0, held: 0 }
  for (const { confidence, kinds, held } of items) {
    if (held) count.held++
    count[confidence === 'in-doubt' ? 'inDoubt' : confidence]++
    for (const kind of kinds) count[kind]++
  }
  return count
}

/** Whether there is anything to do: an item in doubt is a difference. */
export function hasDrift(drift: Drift): boolean {
  const { pending, live, inDoubt } = summarizeDrift(drift)
  return pending + live + inDoubt > 0
}

function itemJson(drifted: DriftItem): Json {
  const { domain, item, kinds, confidence, recordedAt, pending, live } = drifted
  const { unreadable, notVerified, held } = drifted
  const patches = { pending: pending.map(operationJson), live: live.map(operationJson) }
  return pickDefined({
    domain,
    item,
    kinds: [...kinds],
    confidence,
    recordedAt,
    ...patches,
    unreadable: unreadable === undefined ? undefined : true,
    held: held || undefined,
    notVerified: notVerified.length === 0 ? undefined : [...notVerified],
  })
}

function operationJson({ op, path, value }: PatchOperation): Json {
  return pickDefined({ op, path, value })
}
