import type { Effects } from '../../../core/effects/group.ts'
import type { Change, Write } from '../../../core/model/change.ts'
import type { ItemKey } from '../../../core/model/item.ts'
import { pickDefined, type JsonObject } from '../../../core/model/json.ts'
import type { ForeseenWave, Plan } from '../../../core/model/plan.ts'
import { computeImpactShare } from '../../../core/model/traffic.ts'
import type { PolicyReport, ViolationGroup } from '../../../core/policy/report.ts'
import { buildPlanPoliciesJson } from '../policies/json.ts'
import { buildEffectsJson, buildWitnessesJson } from '../effects/json.ts'
import { findWaveEffects } from '../effects/wave-effects.ts'
import type { Witnesses } from '../effects/witnesses.ts'

/** What a plan does to requests, null unless asked for; and what policies find. */
export interface PlanEffects {
  effects: Effects | null
  witnesses: Witnesses | null
  /** Absent or null without policies. */
  policies?: { report: PolicyReport; stopping: ViolationGroup[] } | null
}

/** Builds the changes and writes of a plan, of which its digest in the history is made. */
export function buildPlanBody(
  { changes, writes }: Pick<Plan, 'changes' | 'writes'>,
  wireName: (item: ItemKey) => string,
  isWitnessed = false,
): { changes: JsonObject[]; writes: JsonObject[] } {
  return {
    changes: changes.map((change) => buildChange(change, isWitnessed)),
    writes: writes.map((write) => buildWrite(write, wireName)),
  }
}

/**
 * Builds the JSON of a plan, `edgewise.plan/1`. `wireName` returns the key of an item in the body
 * of a write.
 */
export function buildPlanJson(
  plan: Plan,
  wireName: (item: ItemKey) => string,
  { effects, witnesses, policies }: PlanEffects = { effects: null, witnesses: null },
): JsonObject {
  const { desired, recorded, target, items, commit, onTopOf, traffic } = plan.basis
  return pickDefined({
    format: 'edgewise.plan/1',
    ...buildPlanBody(plan, wireName, witnesses !== null),
    summary: { ...plan.summary },
    basis: pickDefined({
      desired: { ...desired },
      recorded: { ...recorded },
      target: [...target],
      items: items.length === 0 ? undefined : [...items],
      commit,
      onTopOf,
      traffic: traffic && { ...traffic },
    }),
    planner: { ...plan.planner },
    impact: buildImpact(plan),
    warnings: [...plan.warnings],
    onHold: plan.onHold?.flatMap(({ changes, rollout, since, reason }) =>
      changes.map((change) => ({ ...change, rollout, since, reason })),
    ),
    stays: plan.stays?.map((each) => ({ ...each })),
    older: plan.older?.map(({ committed: _committed, ...each }) => each),
    waves: buildWaves(plan, effects),
    requests: effects === null ? undefined : buildEffectsJson(effects),
    witnesses: witnesses === null ? undefined : buildWitnessesJson(witnesses),
    policies: policies == null ? undefined : buildPlanPoliciesJson(policies),
  })
}

function buildImpact({ impact }: Plan): JsonObject | undefined {
  if (impact == null || impact.countedAt === null) return undefined
  const { requests, unknown, top, countedAt } = impact
  const share = computeImpactShare(impact)
  return { requests, share, unknown, top, countedAt: new Date(countedAt).toISOString() }
}

function buildWaves(plan: Plan, effects: Effects | null): JsonObject[] | undefined {
  const found = effects === null ? null : findWaveEffects(plan, effects)
  return plan.waves?.map((each) =>
    pickDefined({
      ...each,
      kinds: [...each.kinds],
      traffic: each.traffic && buildForeseen(each.traffic),
      effects: found?.get(each.wave) ?? undefined,
    }),
  )
}

function buildForeseen({ detects, ...others }: ForeseenWave): JsonObject {
  return pickDefined({ ...others, detects: detects && { ...detects } })
}

/** @param isWitnessed whether it was looked at what the changes do to requests */
function buildChange(change: Change, isWitnessed: boolean): JsonObject {
  const { domain, item, action, reason, by, resets, effect } = change
  const { before, after, patch } = change.shown ?? change
  return pickDefined({
    domain,
    item,
    action,
    reason,
    by,
    before,
    after,
    patch: patch.map((each) => pickDefined({ ...each })),
    resets,
    effect: isWitnessed ? effect : undefined,
  })
}

function buildWrite(
  { id, wave, domains, items }: Write,
  wireName: (item: ItemKey) => string,
): JsonObject {
  const forms = Object.entries(items)
  return {
    id,
    wave,
    domains: [...domains],
    config: Object.fromEntries(forms.map(([item, form]) => [wireName(item), form.payload])),
    forms: Object.fromEntries(forms.map(([item, form]) => [item, form.name])),
  }
}
