import { formatPages } from '../../../src/cli/report/html.ts'
import { selectDefinite } from '../../../src/core/model/plan.ts'
import { createPageAbout } from '../../../src/operations/history/page-about.ts'
import { parseCheck } from '../../../src/operations/observation/earlier-reads.ts'
import { loadHistory } from '../../../src/operations/history/past-applies.ts'
import { computePlanTimes, plan as makePlan } from '../../../src/operations/plan.ts'
import { buildHistoryPage } from '../../../src/outlets/report/page/build-history-page.ts'
import { buildPlanPage } from '../../../src/outlets/report/page/build-plan-page.ts'
import { formatPage, navPlace } from '../../../src/outlets/report/page/format-page.ts'
import type { Extras } from './serve-world.ts'

/**
 * Makes a page as the commands do that a process of its own runs. The renderers of the commands
 * load their parts when they are needed, which they can't while virtual time passes.
 */
export const makePage: Extras['makePage'] = async (asked, workspace, outside) => {
  const [selection, { commit }] = [{ target: [], items: [] }, await workspace.findTree()]
  const describe = (notes: string[]) =>
    createPageAbout(workspace, outside, { ...selection, commit }, notes)
  if (asked === 'plan') {
    const { plan, notes, ...traced } = await makePlan(workspace, selection, { outside })
    const times = computePlanTimes(selectDefinite(plan).writes, workspace, false)
    return formatPage(buildPlanPage(plan, times, describe(notes), traced), navPlace)
  }
  if (asked === 'history') {
    const { fleet, acts } = await loadHistory(workspace, outside, null, true)
    return formatPage(buildHistoryPage({ ...fleet, acts, domain: null }, describe([])), navPlace)
  }
  if (typeof asked === 'string' || 'url' in asked)
    throw new TypeError(`expected a page, got ${JSON.stringify(asked)}`)
  const check = asked.check === null ? null : parseCheck(asked.check)
  return formatPages(workspace, check, outside)
}
