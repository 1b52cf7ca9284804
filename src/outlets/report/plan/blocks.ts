import { catalogue } from '../../../core/catalog/catalogue.ts'
import { dropFields, nameFields } from '../../../core/catalog/hidden-fields.ts'
import type { Action, Change } from '../../../core/model/change.ts'
import { compare, groupBy } from '../../../core/model/lists.ts'
import type { Domain, ItemKey, Value } from '../../../core/model/item.ts'
import { formatPointerStep, parsePointer, resolvePointer } from '../../../core/model/json.ts'
import { createNumbering } from '../../../core/model/text/canonical-json.ts'
import { findShape, formatIdentity, formatValue, type Shape } from './value-text.ts'
import { listChangedLines, listValueLines, type ValueLine } from './value-lines.ts'

/** Line of a block; with `domains`, it applies only to these. */
export interface BlockLine extends ValueLine {
  domains?: Domain[]
}

/** Change of an item as it is shown. */
export interface BlockPart {
  item: ItemKey
  action: Action
  /** Remark on the change; empty for none. */
  note: string
  isDestructive: boolean
  lines: BlockLine[]
}

/** Changes that are shown together: the same ones, or different values of one field. */
export interface Block {
  domains: Domain[]
  parts: BlockPart[]
}

/** Minimum number of different values of a field that are shown as one block. */
const minVariants = 3

/**
 * Groups changes into blocks by what is shown of them. Changes that differ only in the value of one
 * field become one block with a line for each value; different changes of the same domains become
 * one block. Larger blocks come first.
 *
 * @param isPlanned whether the changes are those of a plan, with notes on how they are made
 */
export function groupChanges(changes: Change[], isPlanned = false): Block[] {
  return groupParts(shareParts(changes, isPlanned))
}

/** Groups what is shown of changes as `groupChanges` does. Those that look alike share a part. */
export function groupParts(shared: { change: Pick<Change, 'domain'>; part: BlockPart }[]): Block[] {
  const equal = groupBy(shared, ({ part }) => part)
  const blocks = Array.from(equal, ([part, same]): Block => ({
    domains: same.map(({ change }) => change.domain),
    parts: [part],
  }))
  return joinSameDomains(joinVariants(blocks)).toSorted(compareBlocks)
}

/**
 * Builds the part of each change; changes that look the same share one.
 *
 * @param isPlanned as for `groupChanges`
 */
export function shareParts(
  changes: Change[],
  isPlanned = false,
): { change: Change; part: BlockPart }[] {
  const number = createNumbering(JSON.stringify)
  const parts = new Map<string, BlockPart>()
  const partsByLook = new Map<string, BlockPart>()
  const addPart = (change: Change, key: string): BlockPart => {
    const built = buildPart(change, isPlanned)
    const { item, action, note, lines } = built
    const look = JSON.stringify([item, action, note, lines.map(toKey)])
    const part = partsByLook.get(look) ?? built
    partsByLook.set(look, part)
    parts.set(key, part)
    return part
  }
  return changes.map((change) => {
    const { item, action, reason, by, undoes, resets, absent, effect } = change
    const { before, after } = change.shown ?? change
    // Most changes of a large plan are the same.
    const values = [number(before), number(after)]
    const key = JSON.stringify([item, action, reason, by, undoes, values, resets, absent, effect])
    return { change, part: parts.get(key) ?? addPart(change, key) }
  })
}

/** Groups the changes of a plan. Destructive ones come first, with the option that they need. */
export function groupPlanChanges(changes: Change[]): Block[] {
  return groupChanges(changes, true)
}

/** Counts the changes of a block. */
export function countChanges({ parts, domains }: Block): number {
  return parts.length * domains.length
}

function toKey({ action, field, text }: BlockLine): (string | null)[] {
  return [action, field, text]
}

function buildPart(change: Change, isPlanned: boolean): BlockPart {
  const { item, action } = change
  const danger = isPlanned ? explainDestructive(change) : null
  const warning = danger === null ? [] : [`destructive: ${danger}; needs --allow ${item}`]
  const note = [...describeChange(change, isPlanned), ...warning].join('; ')
  return { item, action, note, isDestructive: danger !== null, lines: listLines(change) }
}

/** Describes in clauses why a change is more than a new value; empty for most. */
export function describeChange(change: Change, isPlanned = false): string[] {
  const { undoes, effect } = change
  return [
    ...(undoes === undefined ? [] : [`goes back: undoes ${undoes}`]),
    ...(effect === undefined ? [] : ['no effect under the settled readings']),
    ...describeReason(change, isPlanned),
  ]
}

function describeReason(
  { reason, action, byDelete, by = 'another item' }: Change,
  isPlanned: boolean,
): string[] {
  if (reason === 'cleared') return [`emptied by ${by}`]
  if (action === 'release') return ['no longer managed; the service keeps its value']
  if (action === 'unset')
    return [isPlanned && byDelete === true ? 'unset by DELETE' : 'reset to unset']
  if (reason === 'secret-unknown') return ['conditional; sent only if the value differs']
  return reason === 'in-doubt' ? ['in-doubt; written again'] : []
}

/** Explains why a change is destructive; null if it is not. */
export function explainDestructive({ item, action, reason, after, resets }: Change): string | null {
  if (action === 'release' || reason === 'cleared') return null
  const names = resets === undefined ? '' : nameFields(resets).join(' and ')
  const loss = names === '' ? null : `resets ${names}, which the service never shows`
  return catalogue.get(item)?.explainDestructive?.(after) ?? loss
}

function listLines(change: Change): ValueLine[] {
  const { item, action, reason, resets = [], absent = [] } = change
  const { before, after } = change.shown ?? change
  if (after === null) return []
  const shape = findShape(item)
  if (reason === 'in-doubt') return listValueLines(after, shape, null)
  return before === null
    ? listValueLines(after, shape, action)
    : [
        ...listChangedLines(before, dropFields(after, resets), shape),
        ...[...resets, ...absent].map((pointer) => formatReset(pointer, after, shape)),
      ]
}

/** Formats a field that a write resets: `ext js: case_ignore unknown → yes`. */
function formatReset(pointer: string, after: Value, { identity }: Shape): ValueLine {
  const [field = '', ...outer] = parsePointer(pointer).toReversed()
  const parent = outer.reduceRight((path, step) => path + formatPointerStep(step), '')
  const label = formatIdentity(resolvePointer(after, parent) ?? null, identity)
  const value = resolvePointer(after, pointer)
  const sent = value === undefined ? 'left out' : formatValue(value)
  const where = label === null ? '' : `${label}: `
  return { action: 'change', field: '', text: `${where}${field} unknown → ${sent}` }
}

/** Joins blocks that differ only in the value of one field. */
function joinVariants(blocks: Block[]): Block[] {
  const families = groupBy(blocks, ({ parts: [part] }) =>
    part === undefined
      ? ''
      : JSON.stringify([
          part.item,
          part.action,
          part.note,
          part.lines.map(({ action, field }) => [action, field]),
        ]),
  )
  return Array.from(families.values()).flatMap((family) => {
    const sorted = family.toSorted(compareBlocks)
    const lines = sorted.length < minVariants ? null : joinLines(sorted)
    const [part] = sorted[0]?.parts ?? []
    if (lines === null || part === undefined) return family
    const domains = family.flatMap((block) => block.domains).toSorted()
    return [{ domains, parts: [{ ...part, lines }] }]
  })
}

/** Joins the lines of blocks of the same fields; null unless exactly one of the lines differs. */
function joinLines(family: Block[]): BlockLine[] | null {
  const all = family.flatMap(({ domains, parts: [part] }) =>
    part === undefined ? [] : [{ domains, lines: part.lines }],
  )
  const first = all[0]?.lines ?? []
  const differing = first.flatMap(({ text }, i) =>
    all.some(({ lines }) => lines[i]?.text !== text) ? [i] : [],
  )
  const [place, ...others] = differing
  if (place === undefined || others.length > 0) return null
  const variants = all.flatMap(({ domains, lines }) =>
    lines.slice(place, place + 1).map((line) => ({ ...line, domains })),
  )
  return [...first.slice(0, place), ...variants, ...first.slice(place + 1)]
}

/** Joins the blocks of exactly the same domains; one with different values stays alone. */
function joinSameDomains(blocks: Block[]): Block[] {
  const groups = groupBy(blocks, ({ domains, parts }) =>
    parts.some(({ lines }) => lines.some((line) => line.domains !== undefined))
      ? parts
      : domains.join(' '),
  )
  return Array.from(groups.values(), (same) => ({
    domains: same[0]?.domains ?? [],
    parts: same.flatMap(({ parts }) => parts),
  }))
}

function compareBlocks(a: Block, b: Block): number {
  return (
    countDestructive(b) - countDestructive(a) ||
    b.domains.length - a.domains.length ||
    countChanges(b) - countChanges(a) ||
    compare(a.domains[0] ?? '', b.domains[0] ?? '') ||
    compare(a.parts[0]?.item ?? '', b.parts[0]?.item ?? '')
  )
}

function countDestructive({ parts }: Block): number {
  return parts.filter(({ isDestructive }) => isDestructive).length
}
