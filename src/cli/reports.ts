import type { Settings, Findings, ItemPlaces } from '../operations/runtime/workspace-parts.ts'
import { extname } from 'node:path'
import type { HistoryEntry } from '../core/model/applied.ts'
import { selectDefinite } from '../core/model/plan.ts'
import type { FoundDrift } from '../operations/observation/find-drift.ts'
import type { DriftAndEffects } from '../operations/drift.ts'
import type { Planned } from '../operations/plan.ts'
import type { Outside } from '../operations/runtime/outside.ts'
import type { PastDomain, PastFleet } from '../operations/history/past-applies.ts'
import { buildHistoryJson } from '../outlets/report/apply/history-json.ts'
import { plainPaint } from '../outlets/report/text/paint.ts'
import type { ApplyRecord } from './apply-report.ts'
import type { ReportEnding, ReportOptions } from './commands/options.ts'
import { createOutput, saveOutput, type ReportFile } from './save-file.ts'

const plainStyle = { paint: plainPaint, columns: 110, verbose: false }

/** Subjects of the reports of each command. */
interface Subjects {
  /** `notes`: about the state, without the warnings of the plan. */
  plan: Pick<Planned, 'plan' | 'effects' | 'witnesses' | 'sides' | 'notes'>
  apply: ApplyRecord
  /** `at`: ms since 1970. */
  drift: {
    found: FoundDrift & Partial<Pick<DriftAndEffects, 'effects'>>
    at: number
    target: string[]
    items: string[]
    commit: string | null
  }
  history: History
}

/** Applies of a workspace or a domain, first to last. */
export interface History {
  applies: HistoryEntry[]
  dropped: number
  /** Null for all domains. */
  domain: PastDomain | null
  /** The changes of the applies; null if only their list was loaded. */
  fleet: PastFleet | null
}

/** Command with reports. */
export type ReportCommand = keyof Subjects
type About = { workspace: Settings & Findings & ItemPlaces; outside: Outside }
type Render<Subject> = (subject: Subject, about: About) => Promise<string>

/** Renderers of all reports, by command and by the ending of the file. */
const formats: { [C in ReportCommand]: Record<ReportEnding, Render<Subjects[C]>> } = {
  plan: {
    '.md': async ({ plan, notes, ...effects }) => {
      const { formatPlanMarkdown } = await import('../outlets/report/plan/markdown.ts')
      return formatPlanMarkdown({ ...plan, warnings: [...notes, ...plan.warnings] }, effects)
    },
    '.html': async ({ plan, notes, ...traced }, about) => {
      const { buildPlanPage } = await import('../outlets/report/page/build-plan-page.ts')
      const { formatPage, describePage, computePlanTimes } = await loadPages()
      const { writes } = selectDefinite(plan)
      const times = computePlanTimes(writes, about.workspace, plan.reverts === true)
      const described = describePage(about, plan.basis, notes)
      return formatPage(buildPlanPage(plan, times, described, traced))
    },
    '.json': async ({ plan, ...effects }, { workspace }) => {
      const { buildPlanJson } = await import('../outlets/report/plan/json.ts')
      const { itemKeys } = workspace.config.service
      return formatJson(buildPlanJson(plan, (key) => itemKeys[key] ?? key, effects))
    },
  },
  apply: {
    '.md': async (record) => {
      const { formatApplyMarkdown } = await import('../outlets/report/apply/markdown.ts')
      return formatApplyMarkdown(record)
    },
    '.html': async (record, about) => {
      const { plan, recorded, warnings, atOnce } = record
      const { buildApplyPage } = await import('../outlets/report/page/build-apply-page.ts')
      const { formatPage, describePage, computePlanTimes } = await loadPages()
      const basis = plan?.basis ?? { target: [], items: [], commit: null }
      const writes = plan === null ? [] : selectDefinite(plan).writes
      const times = computePlanTimes(writes, about.workspace, atOnce || plan?.reverts === true)
      const hasItem =
        recorded === null
          ? null
          : (domain: string, item: string) => recorded.get(domain)?.has(item) === true
      const page = buildApplyPage(record, times, describePage(about, basis, warnings), hasItem)
      return formatPage(page)
    },
    '.json': async ({ events, error }) => {
      const { buildErrorJson } = await import('../outlets/report/diagnostics/json.ts')
      return [...events, ...(error === null ? [] : [buildErrorJson(error)])]
        .map(formatJson)
        .join('')
    },
  },
  drift: {
    '.md': async ({ found, at }) => {
      const { formatDriftMarkdown } = await import('../outlets/report/drift/markdown.ts')
      return formatDriftMarkdown(found.drift, at, found.notes, found.effects)
    },
    '.html': async ({ found, at, ...selected }, about) => {
      const { buildDriftPage } = await import('../outlets/report/page/build-drift-page.ts')
      const { formatPage, describePage } = await loadPages()
      return formatPage(buildDriftPage(found, at, describePage(about, selected, found.notes)))
    },
    '.json': async ({ found }) => {
      const { buildDriftJson } = await import('../outlets/report/drift/json.ts')
      return formatJson(buildDriftJson(found.drift, found.effects))
    },
  },
  history: {
    '.md': async ({ applies, dropped, domain }) => {
      const { formatHistory } = await import('../outlets/report/apply/history-text.ts')
      const { formatDomainHistory } = await import('../outlets/report/apply/history-text.ts')
      const { formatTextReport } = await import('../outlets/report/text/markdown.ts')
      const text =
        domain === null
          ? formatHistory(applies.toReversed(), plainPaint, dropped)
          : formatDomainHistory(domain.domain, domain.applies.toReversed(), plainStyle)
      return formatTextReport('Edgewise history', text)
    },
    '.html': async ({ fleet, domain }, about) => {
      const { buildHistoryPage } = await import('../outlets/report/page/build-history-page.ts')
      const { formatPage, describePage } = await loadPages()
      const target = domain === null ? [] : [domain.domain]
      const described = describePage(about, { target, items: [], commit: null }, [])
      const { applies, dropped } = fleet ?? { applies: [], dropped: 0 }
      const of = domain === null ? null : { name: domain.domain, pruned: domain.pruned }
      // The manifests have no part in a history.
      const page = buildHistoryPage(
        { applies, dropped, domain: of },
        { ...described, warnings: [] },
      )
      return formatPage(page)
    },
    '.json': async (history) => formatJson(buildHistoryJson(history)),
  },
}

/** Loads what all pages need; text and JSON do without it. */
async function loadPages() {
  const { formatPage } = await import('../outlets/report/page/format-page.ts')
  const { createPageAbout } = await import('../operations/history/page-about.ts')
  const { computePlanTimes } = await import('../operations/plan.ts')
  const describePage = (
    { workspace, outside }: About,
    selected: Parameters<typeof createPageAbout>[2],
    notes: string[],
  ) => createPageAbout(workspace, outside, selected, notes)
  return { formatPage, describePage, computePlanTimes }
}

/** Formats JSON as a line. */
export function formatJson(value: object): string {
  return `${JSON.stringify(value)}\n`
}

/** Creates the files of the reports of a command. */
export function createReports<C extends ReportCommand>(
  name: C,
  { report }: ReportOptions,
  workspace: Settings & Findings & ItemPlaces,
  outside: Outside & { cwd: string },
): ReportFile<Subjects[C]>[] {
  return report.map((path) => {
    const output = createOutput(path, workspace, outside)
    const render = formats[name][extname(path) as ReportEnding]
    const save = async (subject: Subjects[C]) =>
      saveOutput(output, await render(subject, { workspace, outside }))
    return { what: `report ${path}`, output, save }
  })
}
