import type { Runs } from './doubt.ts'
import { getHeaderField, type Field } from './fields.ts'
import { listHeaderNames } from './stages/headers.ts'

/** Lists the answers about headers that items change. */
export function listHeaders(runs: Runs): Field[] {
  return (['request', 'response'] as const).flatMap((message) => {
    const { all } = runs.try((run) => listHeaderNames(run, message))
    const names = all?.flatMap(({ answer }) => answer) ?? listHeaderNames(runs.first, message)
    return [...new Set(names)].toSorted().map((name) => getHeaderField(message, name))
  })
}
