import type { SideAnswer } from '../../../core/effects/compare.ts'
import type { EffectGroup, Effects } from '../../../core/effects/group.ts'
import type { JsonObject } from '../../../core/model/json.ts'

/** Builds the key `requests` of a plan (request semantics, 6). */
export function buildEffectsJson({ total, skipped, same, groups }: Effects): JsonObject {
  return { total, skipped, same, groups: groups.map(buildGroup) }
}

function buildGroup(group: EffectGroup): JsonObject {
  const { class: strongest, verdict, count, domains, items, examples, deltas } = group
  return {
    class: strongest,
    verdict,
    count,
    domains: [...domains],
    items: [...items],
    examples: [...examples],
    deltas: deltas.map((delta) => ({
      field: delta.field,
      class: delta.class,
      verdict: delta.verdict,
      before: buildAnswer(delta.before),
      after: buildAnswer(delta.after),
      rules: delta.rules.map(({ side, item, pointer, pattern }) => ({
        side,
        item,
        pointer,
        pattern,
      })),
    })),
  }
}

function buildAnswer(answer: SideAnswer): JsonObject {
  return 'value' in answer ? { value: answer.value } : { unknown: [...answer.unknown] }
}
