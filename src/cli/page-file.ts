import { resolve } from 'node:path'
import type { Page } from '../model/page.ts'
import type { LoadedWorkspace } from '../operations/load-workspace.ts'
import type { Outside } from '../operations/outside.ts'
import { createPageAbout } from '../operations/page-about.ts'
import { computePlanTimes } from '../operations/plan-times.ts'
import { buildApplyPage } from '../report/page/build-apply-page.ts'
import { formatPage } from '../report/page/format-page.ts'
import type { ReportFile } from './apply-report.ts'
import { saveWholeFile } from './save-file.ts'

/**
 * Writes a page into a file named by the user, completely or not at all.
 *
 * @throws EdgewiseError `usage` if it can't be written
 */
export function savePage(
  path: string,
  page: Page,
  { cwd, machine }: Pick<Outside, 'machine'> & { cwd: string },
): void {
  saveWholeFile(resolve(cwd, path), formatPage(page), machine.processName)
}

/** Creates the file with the page of an apply. `atOnce`: without the waves of a rollout. */
export function createPageFile(
  path: string,
  workspace: LoadedWorkspace,
  outside: Outside & { cwd: string },
  atOnce: boolean,
): ReportFile {
  return {
    what: 'page',
    save: async (record) => {
      const { plan, recorded, warnings } = record
      const selected = plan?.basis ?? { target: [], items: [], commit: null }
      const about = createPageAbout(workspace, outside, selected, warnings)
      const hasItem =
        recorded === null
          ? null
          : (domain: string, item: string) => recorded.get(domain)?.has(item) === true
      const times = computePlanTimes(plan?.writes ?? [], workspace, atOnce)
      savePage(path, buildApplyPage(record, times, about, hasItem), outside)
    },
  }
}
