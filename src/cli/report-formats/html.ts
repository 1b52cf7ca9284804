import { selectDefinite } from '../../core/model/plan.ts'
import { createPageAbout } from '../../operations/history/page-about.ts'
import { pluralize } from '../../core/model/text/words.ts'
import { beginPage, type PageAbout } from '../../outlets/report/page/page-about.ts'
import { plainStyle } from '../../outlets/report/text/paint.ts'
import type { About, Renderers } from './subjects.ts'

/** Renders each report as a page that needs no network. */
export const renderers = {
  plan: async ({ plan, notes, ...traced }, about) => {
    const { buildPlanPage } = await import('../../outlets/report/page/build-plan-page.ts')
    const { formatPage, navPlace } = await import('../../outlets/report/page/format-page.ts')
    const { computePlanTimes } = await import('../../operations/plan.ts')
    const { writes } = selectDefinite(plan)
    const times = computePlanTimes(writes, about.workspace, plan.reverts === true)
    const described = describePage(about, plan.basis, notes)
    return formatPage(buildPlanPage(plan, times, described, traced), about.served ? navPlace : null)
  },
  apply: async (record, about) => {
    const { plan, recorded, warnings, atOnce } = record
    const { buildApplyPage } = await import('../../outlets/report/page/build-apply-page.ts')
    const { formatPage } = await import('../../outlets/report/page/format-page.ts')
    const { computePlanTimes } = await import('../../operations/plan.ts')
    const basis = plan?.basis ?? { target: [], items: [], commit: null }
    const writes = plan === null ? [] : selectDefinite(plan).writes
    const times = computePlanTimes(writes, about.workspace, atOnce || plan?.reverts === true)
    const hasItem =
      recorded === null
        ? null
        : (domain: string, item: string) => recorded.get(domain)?.has(item) === true
    return formatPage(buildApplyPage(record, times, describePage(about, basis, warnings), hasItem))
  },
  drift: async ({ found, at, ...selected }, about) => {
    const { buildDriftPage } = await import('../../outlets/report/page/build-drift-page.ts')
    const { formatPage } = await import('../../outlets/report/page/format-page.ts')
    return formatPage(buildDriftPage(found, at, describePage(about, selected, found.notes)))
  },
  history: async ({ fleet, acts, domain, findings }, about) => {
    const { maxFindings } = await import('../../outlets/report/apply/history-text.ts')
    const { buildHistoryPage } = await import('../../outlets/report/page/build-history-page.ts')
    const { formatPage, navPlace } = await import('../../outlets/report/page/format-page.ts')
    const target = domain === null ? [] : [domain.domain]
    const described = describePage(about, { target, items: [], commit: null }, [])
    const of = domain === null ? null : { name: domain.domain, pruned: domain.pruned }
    // The manifests have no part in a history.
    const warnings = findings.slice(0, maxFindings).map(({ message }) => message)
    const page = buildHistoryPage({ ...fleet, acts, domain: of }, { ...described, warnings })
    return formatPage(page, about.served ? navPlace : null)
  },
  show: async ({ sheet }, { workspace, outside }) => {
    const { loadDomainHistory } = await import('../../operations/history/past-applies.ts')
    const { describeDomainTab, formatDomainPage } =
      await import('../../outlets/report/domain/format-domain-page.ts')
    const { formatShell } = await import('../../outlets/report/page/format-shell.ts')
    const { findLineLinks } = await import('../../operations/history/line-links.ts')
    const isRecorded = sheet.items.some(({ changed }) => changed !== null)
    const past = isRecorded ? await loadDomainHistory(workspace, sheet.domain, outside) : null
    const { findLink } = await findLineLinks(workspace, outside)
    const main = formatDomainPage(sheet, {
      workspace: workspace.config.id,
      now: outside.clock.now(),
      home: null,
      applies: past?.applies ?? [],
      findLink,
      redact: (text) => workspace.redact(text),
    })
    return formatShell({ ...describeDomainTab(sheet), main, nav: null })
  },
  list: async ({ shown, target }, about) => {
    const { formatOutliers } = await import('../../outlets/report/list/outliers.ts')
    const { formatTextPage } = await import('../../outlets/report/page/format-page.ts')
    const page = beginPage(
      'list',
      pluralize(shown.outliers.length, 'difference'),
      describePage(about, { target, items: [], commit: null }, []),
    )
    return formatTextPage(page, about.workspace.redact(formatOutliers(shown, plainStyle)))
  },
} satisfies Renderers

function describePage(
  { workspace, outside }: About,
  selected: Parameters<typeof createPageAbout>[2],
  notes: string[],
): PageAbout {
  return createPageAbout(workspace, outside, selected, notes)
}
