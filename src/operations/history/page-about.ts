import type { Settings, ItemPlaces, Findings, Outside } from '../runtime/parts.ts'
import { formatTime } from '../../core/model/text/words.ts'
import type { Page } from '../../core/model/page/page.ts'
import type { PageAbout } from '../../outlets/report/page/page-about.ts'

/** The selection, and the commit of the manifests. */
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
  { config, diagnostics, findItemPlace, redact }: Settings & ItemPlaces & Findings,
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
    redact,
  }
}
