import { groupEffects } from '../../../src/core/effects/group.ts'
import { compileSides } from '../../../src/core/effects/sides.ts'
import type { JsonObject } from '../../../src/core/model/json.ts'
import type { Page } from '../../../src/core/model/page/page.ts'
import type { Candidate, Candidates } from '../../../src/core/trace/candidates.ts'
import { buildSettings } from '../../../src/core/trace/settings.ts'
import { computeTimes } from '../../../src/core/plan/plan-times.ts'
import type { ChangedSides } from '../../../src/outlets/report/effects/pack-sides.ts'
import { buildPlanPage } from '../../../src/outlets/report/page/build-plan-page.ts'
import { buildChange, buildPlan } from '../../plans.ts'
import { buildAbout } from './build-page.ts'

const origin = { default_master: '192.0.2.10' }
const before = { origin, https: { cert_id: 1 }, cache_rule: [rule('5')] }
const referer = { type: 2, list: ['friend.example'], allow_empty: true }
const after = { ...before, referer, cache_rule: [rule('6')] }

function rule(time: string): JsonObject {
  return { type: 1, pattern: 'jpg', time: Number(time), timeunit: 's' }
}

/** Candidates of items with one value. */
export function toCandidates(items: JsonObject): Candidates {
  return new Map(
    Object.entries(items).map(([item, value]): [string, Candidate[]] => [item, [value]]),
  )
}

/** Both sides of domains to which a list of referers comes, and a longer time for images. */
export function buildChangedSides(names = ['www.example.com']): ChangedSides {
  const read = () => ({ before: toCandidates(before), after: toCandidates(after) })
  return {
    domains: names.map((domain) => ({ domain, read })),
    known: names,
    settings: buildSettings(),
  }
}

/** A page of a plan with its effects on some requests of www.example.com. */
export function buildEffectsPage(urls: string[], sides = buildChangedSides()): Page {
  const compiled = sides.domains.map(({ domain, read }) => {
    const { before: left, after: right } = read()
    return compileSides(domain, left, right, sides.settings)
  })
  const effects = groupEffects(
    urls.map((url) => ({
      request: { url, method: 'GET', headers: { referer: 'https://foe.example/', '*': null } },
      count: 2,
    })),
    (host) => compiled.find(({ domain }) => domain === host) ?? null,
  )
  const changes = sides.domains.flatMap(({ domain }) => [
    buildChange({ domain, item: 'referer', after: referer }),
    buildChange({ domain, item: 'cache_rule', action: 'change', before: [], after: [rule('6')] }),
  ])
  const plan = buildPlan(changes)
  const times = computeTimes(plan.writes, { callsPerMinute: 30, rollout: null })
  return buildPlanPage(plan, times, buildAbout(), {
    effects,
    witnesses: null,
    sides,
  })
}
