import { resolve } from 'node:path'
import { formatTime } from '../model/format-time.ts'
import type { Page } from '../model/page.ts'
import type { LoadedWorkspace } from '../operations/load-workspace.ts'
import type { Outside } from '../operations/outside.ts'
import { computePlanTimes } from '../operations/plan-times.ts'
import { buildApplyPage } from '../report/page/build-apply-page.ts'
import { formatPage } from '../report/page/format-page.ts'
import type { PageAbout } from '../report/page/page-about.ts'
import type { ReportFile } from './apply-report.ts'
import { saveWholeFile } from './save-file.ts'

/** What is selected, and the commit of the manifests. */
interface Selected {
  target: readonly string[]
  items: readonly string[]
  commit: string | null
}

/**
 * Collects what a page is about, beside its plan.
 *
 * @param warnings printed with the plan, without those of the manifests
 */
export function createPageAbout(
  { config, diagnostics, findItemPlace, scrub }: LoadedWorkspace,
  { clock }: Pick<Outside, 'clock'>,
  { target, items, commit }: Selected,
  warnings: string[],
): PageAbout {
  const list = (label: string, values: readonly string[]): Page['facts'] =>
    values.length === 0 ? [] : [[label, values.join(', ')]]
  return {
    workspace: config.id,
    facts: [
      ['Workspace', config.id],
      ['Service', config.service.writtenUrl],
      ...list('Commit', commit === null ? [] : [commit]),
      ...list('Domains', target),
      ...list('Items', items),
      ['Time', formatTime(new Date(clock.now()).toISOString())],
    ],
    warnings: [
      ...diagnostics.map(
        ({ file, line, summary, detail }) => `${file}:${line}: ${summary}: ${detail}`,
      ),
      ...warnings,
    ],
    callsPerMinute: config.limits.callsPerMinute,
    findPlace: (domain, item) => {
      const place = findItemPlace(domain, item)
      return place === null ? null : `${place.file}:${place.line}`
    },
    scrub,
  }
}

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
