import type { Overview } from '../../model/overview.ts'
import type { Rollout } from '../../model/rollout.ts'
import type { LoadedWorkspace } from '../../operations/load-workspace.ts'
import type { Outside } from '../../operations/outside.ts'
import { createPageAbout } from '../../operations/page-about.ts'
import { computePlanTimes } from '../../operations/plan-times.ts'
import { plan } from '../../operations/plan.ts'
import { loadRollouts } from '../../operations/rollouts.ts'
import { buildPlanPage } from '../../report/page/build-plan-page.ts'
import type { Branch } from '../branch.ts'
import type { Reconciler } from '../reconciler.ts'
import type { BuiltPage, PageSource } from './page-source.ts'
import { computeRevisions } from './revisions.ts'
import { createShared } from './shared.ts'

/** What the pages are made of. */
export interface SourceContext {
  /** The workspace as it was when the controller began. */
  workspace: LoadedWorkspace
  branch: Pick<Branch, 'location' | 'name'>
  reconciler: Pick<Reconciler, 'found' | 'loadTip'>
  position: { term: number | null }
  outside: Outside
  /** Removes the secrets from a text. */
  scrub(text: string): string
  getDrift(): BuiltPage | null
  listEvents: PageSource['listEvents']
}

/**
 * Ages up to which what was loaded is shown again, ms. A plan is made anew when anything has
 * changed that this process knows of; commands of others may change state meanwhile.
 */
const [overviewMs, planMs] = [1000, 60_000]

/** Creates the source of the pages of a controller. */
export function createPageSource(context: SourceContext): PageSource & { forget(): void } {
  const { workspace, branch, reconciler, position, outside, scrub } = context
  const { clock } = outside
  const scrubReason = (rollout: Rollout): Rollout => ({
    ...rollout,
    reason: rollout.reason === null ? null : scrub(rollout.reason),
  })
  const loadOverview = async (): Promise<Overview> => {
    const { rollouts, ended } = await loadRollouts(workspace, outside)
    return {
      workspace: workspace.config.id,
      role: position.term === null ? 'standby' : 'leader',
      branch: { location: branch.location, name: branch.name },
      ...reconciler.found,
      rollouts,
      ended: ended.map(scrubReason),
    }
  }
  const overview = createShared(clock, loadOverview)
  const buildPlan = async (): Promise<BuiltPage> => {
    const { plan: revision } = computeRevisions(await overview.get(overviewMs, ''))
    const current = await reconciler.loadTip()
    const { plan: made, notes } = await plan(current, { findsIrreversible: true }, { outside })
    const about = createPageAbout(current, outside, made.basis, notes)
    const times = computePlanTimes(made.writes, current, false)
    const at = new Date(clock.now()).toISOString()
    return { page: buildPlanPage(made, times, about), at, commit: current.commit, revision }
  }
  const planned = createShared(clock, buildPlan)
  return {
    overview: () => overview.get(overviewMs, ''),
    plan: async () =>
      planned.get(planMs, computeRevisions(await overview.get(overviewMs, '')).plan),
    drift: context.getDrift,
    listEvents: context.listEvents,
    forget: overview.forget,
  }
}
