import type { Page } from '../model/page.ts'
import { selectDefinite } from '../model/plan.ts'
import type { LoadedWorkspace } from '../operations/load-workspace.ts'
import type { Outside } from '../operations/outside.ts'
import { createPageAbout } from '../operations/page-about.ts'
import { computePlanTimes } from '../operations/plan-times.ts'
import { buildApplyPage } from '../report/page/build-apply-page.ts'
import { formatPage } from '../report/page/format-page.ts'
import type { ReportFile } from './apply-report.ts'
import { createOutput, saveOutput } from './save-file.ts'
import type { Output } from '../files/write-output.ts'

/** @throws EdgewiseError `usage` if the page can't be written */
export function savePage(output: Output, page: Page): Promise<void> {
  return saveOutput(output, formatPage(page))
}

/** Creates the file with the page of an apply. `atOnce`: without the waves of a rollout. */
export function createPageFile(
  path: string,
  workspace: LoadedWorkspace,
  outside: Outside & { cwd: string },
  atOnce: boolean,
): ReportFile {
  const output = createOutput(path, workspace, outside)
  return {
    what: 'page',
    output,
    save: async (record) => {
      const { plan, recorded, warnings } = record
      const selected = plan?.basis ?? { target: [], items: [], commit: null }
      const about = createPageAbout(workspace, outside, selected, warnings)
      const hasItem =
        recorded === null
          ? null
          : (domain: string, item: string) => recorded.get(domain)?.has(item) === true
      const times = computePlanTimes(
        plan === null ? [] : selectDefinite(plan).writes,
        workspace,
        atOnce,
      )
      await savePage(output, buildApplyPage(record, times, about, hasItem))
    },
  }
}
