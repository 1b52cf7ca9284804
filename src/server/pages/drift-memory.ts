import type { FoundDrift } from '../../operations/find-drift.ts'
import type { LoadedWorkspace } from '../../operations/load-workspace.ts'
import type { Outside } from '../../operations/outside.ts'
import { createPageAbout } from '../../operations/page-about.ts'
import { buildDriftPage } from '../../report/page/build-drift-page.ts'
import { formatPage } from '../../report/page/format-page.ts'
import type { Notifications } from '../notifications.ts'
import type { BuiltPage } from './page-source.ts'

/** Creates what keeps the page of the last drift check of this process. */
export function createDriftMemory(outside: Pick<Outside, 'clock'>) {
  let last: BuiltPage | null = null
  const keep = async (workspace: LoadedWorkspace, found: FoundDrift): Promise<void> => {
    const nowMs = outside.clock.now()
    const { commit } = await workspace.findTree()
    const about = createPageAbout(
      workspace,
      outside,
      { target: [], items: [], commit },
      found.notes,
    )
    const at = new Date(nowMs).toISOString()
    const page = buildDriftPage(found, nowMs, about)
    last = { format: (frame) => formatPage(page, frame), at, commit, revision: at }
  }
  return {
    getLast: (): BuiltPage | null => last,
    /** Keeps the page of each drift check that is notified of. */
    observe: (notifications: Notifications): Notifications => ({
      ...notifications,
      aboutDrift: async (workspace, found) => {
        await keep(workspace, found)
        await notifications.aboutDrift(workspace, found)
      },
    }),
  }
}
