import { formatJson } from '../../core/model/json.ts'
import type { Renderers } from './subjects.ts'

/** Renders each report as the JSON that `--json` prints. */
export const renderers = {
  plan: async ({ plan, ...effects }, { workspace }) => {
    const { buildPlanJson } = await import('../../outlets/report/plan/json.ts')
    const { itemKeys } = workspace.config.service
    return formatJson(buildPlanJson(plan, (key) => itemKeys[key] ?? key, effects))
  },
  apply: async ({ events, error }) => {
    const { buildErrorJson } = await import('../../outlets/report/diagnostics/json.ts')
    return [...events, ...(error === null ? [] : [buildErrorJson(error)])].map(formatJson).join('')
  },
  drift: async ({ found }) => {
    const { buildDriftJson } = await import('../../outlets/report/drift/json.ts')
    return formatJson(buildDriftJson(found.drift, found.effects))
  },
  history: async (history) => {
    const { buildHistoryJson } = await import('../../outlets/report/apply/history-json.ts')
    return formatJson(buildHistoryJson(history))
  },
  show: async ({ sheet }) => {
    const { buildSheetJson } = await import('../../outlets/report/domain/json.ts')
    return formatJson(buildSheetJson(sheet))
  },
  list: async ({ shown }) => {
    const { buildOutliersJson } = await import('../../outlets/report/list/outliers.ts')
    return formatJson(buildOutliersJson(shown))
  },
  test: async (tested) => {
    const { buildTestJson } = await import('../../outlets/report/tests/json.ts')
    return formatJson(buildTestJson(tested))
  },
} satisfies Renderers
