import type { PastChange } from '../../../core/model/applied.ts'
import type { Action } from '../../../core/model/change.ts'
import type { ItemKey, Value } from '../../../core/model/item.ts'
import type { BlockPart } from '../plan/blocks.ts'
import { listChangedLines, listValueLines, type ValueLine } from '../plan/value-lines.ts'
import { findShape, formatValue, type Shape } from '../plan/value-text.ts'

/** Explanations of outcomes that are not clear by themselves. */
const remarks: Record<PastChange['outcome'], string> = {
  confirmed: '',
  'in-doubt': 'the write may have taken effect',
  refused: 'refused by the service',
  unchanged: 'not sent, or refused: state was the same afterwards',
  released: 'no longer managed; the service kept its value',
  'not-recorded': 'not in state afterwards: refused, not sent, or forgotten since',
  'not-known': 'its outcome is not stored: another command replaced its state',
}

/** Builds what is shown of a change that an apply intended. */
export function buildPastPart(item: ItemKey, change: PastChange): BlockPart {
  const action = findAction(change)
  const { outcome, message } = change
  return {
    item,
    action,
    note: remarks[outcome] + (message === undefined ? '' : `: ${message}`),
    isDestructive: false,
    lines: listLines(change, action, findShape(item)),
  }
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
  const whole = action === 'set' ? to : action === 'unset' ? from : undefined
  if (isKnown && whole !== undefined) return listValueLines(whole, shape, action)
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
