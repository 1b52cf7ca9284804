import type { Delta, SideAnswer } from '../../../core/effects/compare.ts'
import type { EffectGroup } from '../../../core/effects/group.ts'
import type {
  PageAnswer,
  PageEffectGroup,
  PageEffects,
} from '../../../core/model/page/page-effects.ts'
import { describeWitness } from '../effects/witnesses-text.ts'
import type { PlanEffects } from '../plan/json.ts'
import { describeAnswer } from '../trace/answers.ts'
import {
  mergeAlike,
  isMissingUnmanaged,
  listHeadlines,
  describeCounts,
} from '../effects/describe-effects.ts'

/** Most groups of a page. */
const maxGroups = 100
/** Answers that only a request has that is served. */
const ofServed = /^(?:cache|origin|response)\.(?!status$|location$)/

/** Builds what a page shows of the effects of a plan on requests. */
export function buildEffects({ effects, witnesses }: PlanEffects): PageEffects {
  const all = mergeAlike(effects?.groups ?? [])
  const groups = all.slice(0, maxGroups)
  const isMissing = effects !== null && isMissingUnmanaged(effects)
  return {
    counts: effects === null ? '' : describeCounts(effects),
    hint: isMissing
      ? '"--assume unmanaged=absent" takes items that were not managed as not set.'
      : '',
    groups: groups.map(buildGroup),
    left: all.length - groups.length,
    witnesses: (witnesses?.changes ?? []).map((each) => ({
      item: each.item,
      domains: each.domains,
      lines: describeWitness(each),
    })),
  }
}

function buildGroup(group: EffectGroup): PageEffectGroup {
  const headlines = new Set<Delta>(listHeadlines(group))
  const { class: strongest, count, domains, items, examples, deltas } = group
  const outcome = deltas.find(({ field }) => field === 'outcome') ?? null
  const build = (own: Delta[]) => own.map((delta) => buildAnswer(delta, outcome))
  return {
    class: strongest,
    count,
    answers: build(deltas.filter((delta) => headlines.has(delta))),
    others: build(deltas.filter((delta) => !headlines.has(delta))),
    domains,
    items,
    examples,
  }
}

/**
 * Describes an answer before and after in words.
 *
 * @param outcome null if it is the same on both sides
 */
export function buildAnswer(
  { field, before, after }: Delta,
  outcome: Pick<Delta, 'before' | 'after'> | null,
): PageAnswer {
  const describe = (side: 'before' | 'after', answer: SideAnswer) => {
    const isNothing = 'value' in answer && answer.value === null && ofServed.test(field)
    return isNothing && isRefused(outcome?.[side]) ? 'not served' : describeAnswer(field, answer)
  }
  return { field, before: describe('before', before), after: describe('after', after) }
}

function isRefused(outcome: SideAnswer | undefined): boolean {
  return outcome !== undefined && 'value' in outcome && outcome.value !== 'served'
}
