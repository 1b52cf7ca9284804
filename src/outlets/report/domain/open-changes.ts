import { describeRefusal } from '../../../core/model/applied.ts'
import type { Change } from '../../../core/model/change.ts'
import { pluralize } from '../../../core/model/text/words.ts'
import { buildPartContent } from '../page/build-matrix.ts'
import { fitText } from '../page/fit-page.ts'
import { formatNames, listNames, show } from '../page/html.ts'
import { countChanges, groupChanges, type Block } from '../plan/blocks.ts'
import { formatChangedLines } from './format-domain-page.ts'
import type { Headline } from '../live/headline.ts'
import { namePage } from './fleet-row.ts'
import type { DomainSheet } from './sheet.ts'

/** Blocks, lines of one, and names of its domains that are shown; longest text (UTF-16). */
const [maxBlocks, maxLines, maxNames, maxText] = [12, 24, 100, 480]
/** Up to this number of domains, their names are open. */
const maxOpen = 6

/** Lists what the manifests change of a domain, without what is on hold. */
export function listOpenChanges({ items }: DomainSheet): Change[] {
  return items.flatMap(({ pending, condition }) =>
    pending === null || condition === 'on-hold' ? [] : [pending],
  )
}

/** Lists what the service refused of it. */
export function listRefused({ domain, items }: DomainSheet): Headline[] {
  return items.flatMap(({ item, refused: message }) => {
    if (message === null) return []
    const text = describeRefusal({ domains: [domain], items: [item], message })
    return [
      {
        tone: 'problem',
        text: `${text}. Change its manifest.`,
        href: `/domains/${namePage(domain)}`,
      },
    ]
  })
}

/**
 * Formats what is left to change as blocks of the same change, the largest first; empty for
 * nothing. Every text may be hostile, and is escaped.
 */
export function formatOpenChanges(changes: Change[], redact: (text: string) => string): string {
  const blocks = groupChanges(changes)
  const left = blocks.slice(maxBlocks).reduce((sum, block) => sum + countChanges(block), 0)
  const end = left > 0 ? `<li class="note">and ${pluralize(left, 'more change')}</li>` : ''
  const entries = blocks.slice(0, maxBlocks).map((block) => formatBlock(block, redact))
  return entries.length === 0 ? '' : `<ul class="changes">${entries.join('')}${end}</ul>`
}

function formatBlock({ domains, parts }: Block, redact: (text: string) => string): string {
  const put = (text: string) => show(fitText(redact(text), maxText))
  const shown = parts.map((part) => {
    const { item, action } = part
    const { note, lines } = buildPartContent(part, maxLines)
    return (
      `<p><code>${put(item)}</code> ${action}${note === '' ? '' : `: ${put(note)}`}</p>` +
      formatChangedLines(lines, put)
    )
  })
  const names = domains.map(redact)
  const row = listNames(names, maxNames, true)
  const fold = formatNames(pluralize(names.length, 'domain'), names, maxNames, true)
  return `<li>${shown.join('')}${names.length > maxOpen ? fold : row}</li>`
}
