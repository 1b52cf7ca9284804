import type { Applied } from '../../model/applied.ts'
import { symbols } from '../../model/change.ts'
import type { ItemKey } from '../../model/item.ts'
import {
  formatLines,
  listBlockLines,
  selectColours,
  type PlanTextOptions,
} from '../plan/format-block.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { formatEntry } from './history-text.ts'
import { buildPastPart, type PastChange } from './past-part.ts'

type PastApply = Applied & { items: ReadonlyMap<ItemKey, PastChange> }

/** Formats the history of a domain, in the order of `applies`. Ends with a line break. */
export function formatDomainHistory(
  domain: string,
  applies: PastApply[],
  options: PlanTextOptions,
): string {
  const title = options.paint.bold(escapeInvisible(domain))
  if (applies.length === 0) return `${title}\n\nNo apply has written it as far as is stored.\n`
  const texts = applies.map(({ items, ...apply }) =>
    [
      formatEntry(apply, options.paint).trimEnd(),
      ...Array.from(items, ([item, change]) => formatChange(item, change, options)),
    ].join('\n'),
  )
  return `${title}\n\n${texts.join('\n\n')}\n`
}

function formatChange(item: ItemKey, change: PastChange, options: PlanTextOptions): string {
  const { paint } = options
  const part = buildPastPart(item, change)
  const colour =
    change.outcome === 'confirmed' || change.outcome === 'released' ? 'green' : 'yellow'
  // The only part of a block has no title of its own.
  const lines = listBlockLines({ domains: [''], parts: [part] }, options, 6)
  const symbol = selectColours(paint)[part.action](symbols[part.action])
  const title = `  ${symbol} ${escapeInvisible(item)}  ${paint[colour](change.outcome)}`
  return [title, ...formatLines(lines, options)].join('\n')
}
