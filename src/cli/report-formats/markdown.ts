import { formatTextReport } from '../../outlets/report/text/markdown.ts'
import { plainPaint, plainStyle } from '../../outlets/report/text/paint.ts'
import type { Renderers } from './subjects.ts'

/** Renders each report as Markdown, short enough for a comment at a code host. */
export const renderers = {
  plan: async ({ plan, notes, ...effects }) => {
    const { formatPlanMarkdown } = await import('../../outlets/report/plan/markdown.ts')
    return formatPlanMarkdown({ ...plan, warnings: [...notes, ...plan.warnings] }, effects)
  },
  apply: async (record) => {
    const { formatApplyMarkdown } = await import('../../outlets/report/apply/markdown.ts')
    return formatApplyMarkdown(record)
  },
  drift: async ({ found, at }) => {
    const { formatDriftMarkdown } = await import('../../outlets/report/drift/markdown.ts')
    return formatDriftMarkdown(found.drift, at, found.notes, found.effects)
  },
  history: async ({ applies, acts, dropped, domain, findings }) => {
    const { formatDomainHistory, formatFindings, formatHistory } =
      await import('../../outlets/report/apply/history-text.ts')
    const text =
      domain === null
        ? formatHistory(applies.toReversed(), plainPaint, dropped, acts)
        : formatDomainHistory(domain.domain, domain.applies.toReversed(), plainStyle)
    const wrong = formatFindings(findings, plainPaint).join('')
    return formatTextReport('Edgewise history', wrong + text)
  },
  show: async (shown, { outside }) => {
    const { formatSheet } = await import('../../outlets/report/domain/text.ts')
    const text = formatSheet(shown, outside.clock.now(), plainStyle)
    return formatTextReport(`Edgewise: ${shown.sheet.domain}`, text)
  },
  list: async ({ shown }) => {
    const { formatOutliers } = await import('../../outlets/report/list/outliers.ts')
    return formatTextReport('Edgewise list', formatOutliers(shown, plainStyle))
  },
  test: async (tested) => {
    const { formatTests, describeTotals } = await import('../../outlets/report/tests/text.ts')
    const text = formatTests(tested, { paint: plainPaint, columns: 80, quiet: true })
    return formatTextReport(`Edgewise tests: ${describeTotals(tested.results)}`, text)
  },
} satisfies Renderers
