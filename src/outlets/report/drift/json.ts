import type { Effects } from '../../../core/effects/group.ts'
import type { PatchOperation } from '../../../core/model/change.ts'
import { isDrifted, type Drift, type DriftItem } from '../../../core/model/drift.ts'
import { pickDefined, type Json, type JsonObject } from '../../../core/model/json.ts'
import { buildEffectsJson } from '../effects/json.ts'

/** Builds the JSON of drift, `edgewise.drift/1`, with what it does to requests if that is given. */
export function buildDriftJson(drift: Drift, effects: Effects | null = null): JsonObject {
  const { held, ignored, unanswered, stays, waiting, ...summary } = summarizeDrift(drift)
  return pickDefined({
    format: 'edgewise.drift/1',
    items: drift.items.map(buildItem),
    summary: pickDefined({
      ...summary,
      waiting: waiting || undefined,
      held: held || undefined,
      ignored: ignored || undefined,
    }),
    unanswered: unanswered === 0 ? undefined : drift.unanswered,
    stays: stays === 0 ? undefined : drift.stays?.map((each) => ({ ...each })),
    requests: effects === null ? undefined : buildEffectsJson(effects),
  })
}

export type DriftSummary = ReturnType<typeof summarizeDrift>

/**
 * Counts items by confidence and by kind of difference; `waiting`: those that wait for their wave,
 * which is no drift; `held`: pending ones on hold; `ignored`: those with an ignored difference;
 * `unanswered`: domains that the service does not have.
 */
export function summarizeDrift({ items, unanswered = [], stays = [] }: Drift) {
  const kinds = { pending: 0, waiting: 0, live: 0, held: 0, ignored: 0 }
  const count = { verified: 0, assumed: 0, inDoubt: 0, ...kinds }
  for (const each of items) {
    const { confidence } = each
    if (each.held) count.held++
    if (each.ignored !== undefined) count.ignored++
    if (confidence !== 'in-doubt') count[confidence]++
    else if (isDrifted(each)) count.inDoubt++
    for (const kind of each.kinds) count[kind]++
  }
  return { ...count, unanswered: unanswered.length, stays: stays.length }
}

/** Checks for differences; an in-doubt item is one. */
export function hasDrift(drift: Drift): boolean {
  const { pending, live, inDoubt, unanswered, stays } = summarizeDrift(drift)
  return pending + live + inDoubt + unanswered + stays > 0
}

function buildItem(drifted: DriftItem): Json {
  const { domain, item, kinds, confidence, recordedAt, pending, live } = drifted
  const { unreadable, notVerifiable, held, ignored } = drifted
  const patches = { pending: pending.map(buildOperation), live: live.map(buildOperation) }
  return pickDefined({
    domain,
    item,
    kinds: [...kinds],
    confidence,
    recordedAt,
    ...patches,
    unreadable: unreadable === undefined ? undefined : true,
    held: held || undefined,
    ignored,
    notVerifiable: notVerifiable.length === 0 ? undefined : [...notVerifiable],
  })
}

/** Builds an operation of a patch. */
export function buildOperation({ op, path, value }: PatchOperation): Json {
  return pickDefined({ op, path, value })
}
