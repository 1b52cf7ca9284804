import type { Change } from '../../../core/model/change.ts'
import type { PageWave } from '../../../core/model/page/page-rollout.ts'
import type { Page } from '../../../core/model/page/page.ts'
import {
  selectDefinite,
  type Plan,
  type PlanTimes,
  type WaveTimes,
} from '../../../core/model/plan.ts'
import { packSides, type ChangedSides } from '../effects/pack-sides.ts'
import { shareParts, type BlockPart } from '../plan/blocks.ts'
import type { PlanEffects } from '../plan/json.ts'
import { formatImpact } from '../plan/impact.ts'
import { formatPlanSentence, listApprovals } from '../plan/summary.ts'
import { buildMatrix, type Cell, buildPartContent, type PartContent } from './build-matrix.ts'
import { buildEffects } from './build-effects.ts'
import { listNotices } from './list-notices.ts'
import { beginPage, findCellPlace, type PageAbout } from './page-about.ts'

/** Builds the page of a plan, with what it does to requests if that is given. */
export function buildPlanPage(
  plan: Plan,
  times: PlanTimes,
  about: PageAbout,
  traced: (PlanEffects & { sides: ChangedSides | null }) | null = null,
): Page {
  const warnings = [...about.warnings, ...plan.warnings]
  const impact = formatImpact(selectDefinite(plan).impact)
  const facts: PageAbout['facts'] =
    impact === null ? about.facts : [...about.facts, ['impact', impact]]
  return {
    ...beginPage('plan', formatPlanSentence(plan), { ...about, facts, warnings }),
    ...buildPlanned(plan, times, about, () => null),
    ...(traced === null || traced.sides === null
      ? {}
      : { effects: buildEffects(traced), sides: packSides(traced.sides) }),
  }
}

/** Content of a page about the plan itself. */
type Planned = Pick<
  Page,
  'domains' | 'items' | 'parts' | 'changes' | 'writes' | 'waves' | 'notices'
>

/**
 * Builds what a page shows of the plan itself.
 *
 * @param times of the writes without those of conditional changes
 * @param findState state of a change, such as `refused`
 */
export function buildPlanned(
  plan: Plan,
  times: PlanTimes,
  about: PageAbout,
  findState: (change: Change) => string | null,
): Planned {
  const definite = selectDefinite(plan)
  const contents = new Map<BlockPart, PartContent>()
  const cells = shareParts(definite.changes, true).map(({ change, part }): Cell => {
    const content = contents.get(part) ?? buildPartContent(part)
    contents.set(part, content)
    const { domain, item } = change
    const place = findCellPlace(about, domain, item)
    return { domain, item, part: content, place, state: findState(change) }
  })
  const writes = definite.writes.map((write, i) => ({ write, seconds: times.writes[i] ?? 0 }))
  return {
    ...buildMatrix(cells, writes),
    waves: times.waves.map((time) => buildWave(time, definite)),
    notices: listNotices(plan, about.redact),
  }
}

function buildWave({ wave, from, to, waitSeconds }: WaveTimes, plan: Plan): PageWave {
  const own = plan.writes.filter((write) => write.wave === wave)
  return {
    wave,
    domains: new Set(own.flatMap((write) => write.domains)).size,
    times: { writes: own.length, from, to, waitSeconds },
    approval: listApprovals(plan).includes(wave) ? 'needs approval' : null,
    health: null,
    names: [],
  }
}
