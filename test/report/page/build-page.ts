import type { Page } from '../../../src/core/model/page/page.ts'
import type { Plan } from '../../../src/core/model/plan.ts'
import { computeTimes, type Pacing } from '../../../src/core/plan/plan-times.ts'
import { buildPlanPage } from '../../../src/outlets/report/page/build-plan-page.ts'
import type { PageAbout } from '../../../src/outlets/report/page/page-about.ts'

/** Builds what a page is about, but for what is given. */
export function buildAbout(given: Partial<PageAbout> = {}): PageAbout {
  return {
    workspace: 'storefront',
    facts: [['Workspace', 'storefront']],
    warnings: [],
    callsPerMinute: 30,
    findPlace: (domain) => `domains/${domain}.yaml:3`,
    redact: (text) => text,
    ...given,
  }
}

/** Builds the page of a plan. */
export function buildPage(
  plan: Plan,
  given: Partial<PageAbout> = {},
  rollout: Pacing['rollout'] = null,
): Page {
  return buildPlanPage(
    plan,
    computeTimes(plan.writes, { callsPerMinute: 30, rollout }),
    buildAbout(given),
  )
}
