import type { Action } from '../../model/change.ts'
import type { Applied } from '../../model/applied.ts'
import type { ItemKey, Value } from '../../model/item.ts'
import type { BlockPart } from '../plan/blocks.ts'
import {
  formatLines,
  listBlockLines,
  selectColours,
  type PlanTextOptions,
} from '../plan/format-block.ts'
import { listChangedLines, listValueLines, type ValueLine } from '../plan/value-lines.ts'
import { findShape, formatValue, type Shape } from '../plan/value-text.ts'
import { symbols } from '../../model/change.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { formatEntry } from './history-text.ts'

/** Change of an item that an apply intended. */
interface PastChange {
  before: { status: string; candidates: Value[]; unknown?: boolean } | null
  /** Several values if the one before was in-doubt, none if unset; null: released. */
  after: Value[] | null
  outcome: keyof typeof remarks
}

type PastApply = Applied & { items: ReadonlyMap<ItemKey, PastChange> }

/** Explanations of outcomes that are not clear by themselves. */
const remarks = {
  confirmed: '',
  'in-doubt': 'the write may have taken effect',
  unchanged: 'refused or not sent: state was the same afterwards',
  released: 'no longer managed; the service kept its value',
  'not-recorded': 'not in state afterwards: refused, not sent, or forgotten since',
  'not-known': 'its outcome is not stored: another command replaced its state',
}

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
  const action = findAction(change)
  const colour =
    change.outcome === 'confirmed' || change.outcome === 'released' ? 'green' : 'yellow'
  const part: BlockPart = {
    item,
    action,
    note: remarks[change.outcome],
    isDestructive: false,
    lines: listLines(change, action, findShape(item)),
  }
  // The only part of a block has no title of its own.
  const lines = listBlockLines({ domains: [''], parts: [part] }, options, 6)
  const symbol = selectColours(paint)[action](symbols[action])
  const title = `  ${symbol} ${escapeInvisible(item)}  ${paint[colour](change.outcome)}`
  return [title, ...formatLines(lines, options)].join('\n')
}

function findAction({ before, after }: PastChange): Action {
  if (after === null) return 'release'
  if (after.length === 0) return 'unset'
  return before === null || (before.candidates.length === 0 && before.unknown !== true)
    ? 'set'
    : 'change'
}

function listLines({ before, after }: PastChange, action: Action, shape: Shape): ValueLine[] {
  const old = before?.candidates ?? []
  const [from, ...others] = old
  const [to, ...alternatives] = after ?? []
  if (action === 'release') return []
  const isKnown = before?.unknown !== true && others.length + alternatives.length === 0
  if (isKnown && action === 'set' && to !== undefined) return listValueLines(to, shape, 'set')
  if (isKnown && from !== undefined && action === 'unset')
    return listValueLines(from, shape, 'unset')
  if (isKnown && from !== undefined && to !== undefined) {
    const changed = listChangedLines(from, to, shape)
    return changed.length > 0 ? changed : listValueLines(to, shape, null)
  }
  const list = (field: string, values: Value[], isCertain: boolean) =>
    values.map((value): ValueLine => {
      const text = formatValue(value, shape.schema)
      return { action: null, field, text: isCertain ? text : `maybe ${text}` }
    })
  return [
    ...list('before', old, others.length === 0 && before?.unknown !== true),
    ...(before?.unknown === true
      ? [{ action: null, field: 'before', text: 'maybe a value that was never recorded' }]
      : []),
    ...list('after', after ?? [], alternatives.length === 0),
    ...(action === 'unset' ? [{ action: null, field: 'after', text: '(unset)' }] : []),
  ]
}
