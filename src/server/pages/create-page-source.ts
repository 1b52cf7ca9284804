import type { Overview } from '../../model/overview.ts'
import type { Rollout } from '../../model/rollout.ts'
import type { LoadedWorkspace } from '../../operations/load-workspace.ts'
import type { Outside } from '../../operations/outside.ts'
import { loadRollouts } from '../../operations/rollouts.ts'
import { frameHtml } from '../../report/page/format-page.ts'
import type { Reconciler } from '../reconciler.ts'
import type { HeldBranch } from './hold-commits.ts'
import type { BuiltPage, PageSource } from './page-source.ts'
import { computeRevisions } from './revisions.ts'
import { createShared } from './shared.ts'

/** A page that a process of its own makes; `json`: the plan for programs. */
export type OwnPage = 'plan' | 'json' | 'history'

/** What the pages are made of. */
export interface SourceContext {
  /** The workspace as it was when the controller began. */
  workspace: LoadedWorkspace
  branch: Pick<HeldBranch, 'location' | 'name' | 'fetch' | 'hold' | 'keepOnly'>
  reconciler: Pick<Reconciler, 'found' | 'getHead'>
  position: { term: number | null }
  outside: Outside
  /** Removes the secrets from a text. */
  scrub(text: string): string
  /** Makes a page of the workspace in a folder, without blocking this process. */
  ownPage(page: OwnPage, root: string, outside: Outside): Promise<string>
  getDrift(): BuiltPage | null
  listEvents: PageSource['listEvents']
}

/**
 * Ages up to which what was loaded is shown again, ms. A page is made anew when anything has
 * changed that this process knows of; commands of others may change state meanwhile.
 */
const [overviewMs, ownMs] = [1000, 60_000]

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
  const findRevision = async (): Promise<string> =>
    computeRevisions(await overview.get(overviewMs, '')).plan
  const build = async (page: OwnPage): Promise<BuiltPage & { text: string }> => {
    const revision = await findRevision()
    const { commit: tip } = reconciler.found
    // The history needs a workspace that can be loaded, whatever the tip is.
    const head = page === 'history' && tip !== null ? reconciler.getHead() : null
    const commit = head ?? tip ?? (await branch.fetch())
    const at = new Date(clock.now()).toISOString()
    // A leader removes the folders of earlier commits in each round; a standby has no rounds.
    if (position.term === null) await branch.keepOnly([commit])
    const text = await branch.hold(commit, (root) => context.ownPage(page, root, outside))
    return { text, format: (frame) => frameHtml(text, frame), at, commit, revision }
  }
  /** Makes a page once for all readers, and keeps it for some time. */
  const share = (page: OwnPage) => {
    // A failure is kept as long as a page: who comes back for it would begin the next one.
    const made = createShared(clock, () =>
      build(page).then(
        (built) => () => built,
        (error: unknown) => () => {
          throw error
        },
      ),
    )
    return async () => (await made.get(ownMs, await findRevision()))()
  }
  const json = share('json')
  return {
    overview: () => overview.get(overviewMs, ''),
    plan: share('plan'),
    history: share('history'),
    planJson: async () => (await json()).text,
    drift: context.getDrift,
    listEvents: context.listEvents,
    forget: overview.forget,
  }
}
