import { computeGroupShare, type EffectGroup, type Effects } from '../../../core/effects/group.ts'
import type { JsonObject } from '../../../core/model/json.ts'
import type { Witnesses } from './witnesses.ts'

/** Builds the key `witnesses` of a plan (request semantics, 6). */
export function buildWitnessesJson({ changes }: Witnesses): JsonObject[] {
  return changes.map(({ item, action, domains, witness }) => ({
    item,
    action,
    domains: [...domains],
    ...buildWitness(witness),
  }))
}

function buildWitness(witness: Witnesses['changes'][number]['witness']): JsonObject {
  if (witness.kind === 'equal') return { kind: witness.kind, proof: witness.proof }
  if (witness.kind === 'not-found')
    return { kind: witness.kind, tried: witness.tried, reasons: [...witness.reasons] }
  const { kind, request, class: strongest, deltas } = witness
  return { kind, request, class: strongest, deltas: deltas.map(buildDelta) }
}

/** Builds the key `requests` of a plan (request semantics, 6). */
export function buildEffectsJson(effects: Effects): JsonObject {
  const { total, skipped, same, groups } = effects
  return {
    total,
    skipped,
    same,
    groups: groups.map((group) => buildGroup(group, computeGroupShare(group, effects))),
  }
}

function buildGroup(group: EffectGroup, share: number): JsonObject {
  const { class: strongest, verdict, count, domains, items, examples, deltas } = group
  return {
    class: strongest,
    verdict,
    count,
    share,
    domains: [...domains],
    items: [...items],
    examples: [...examples],
    deltas: deltas.map(buildDelta),
  }
}

function buildDelta(delta: EffectGroup['deltas'][number]): JsonObject {
  return {
    field: delta.field,
    class: delta.class,
    verdict: delta.verdict,
    before: delta.before,
    after: delta.after,
    rules: delta.rules.map(({ side, item, pointer, pattern }) => ({
      side,
      item,
      pointer,
      pattern,
    })),
  }
}
