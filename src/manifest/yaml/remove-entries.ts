import patches from 'fast-json-patch'
import { type Scalar, type YAMLSeq, isNode, isScalar, isSeq } from 'yaml'
import { type Json, isSameJson, parsePointer, resolvePointer } from '../../core/model/json.ts'
import { append, groupBy } from '../../core/model/lists.ts'
import { findComments } from './marked-comments.ts'
import { type SourceFile, parseAnyYaml } from './yaml-file.ts'
import { parseText } from './yaml-text.ts'

/** An entry of a list in a document. */
export interface Entry {
  document: number
  /** Pointer of the entry, which ends in its index; of the list, if only its text is known. */
  pointer: string
  /** Its text, which the list must have there; null: it may have any value. */
  text: string | null
}

/** A part of a text to replace; offsets in UTF-16 units, the end is exclusive. */
interface Edit {
  start: number
  end: number
  text: string
}

type Indexes = ReadonlySet<number>
type Comments = ReturnType<typeof findComments>

/**
 * Removes entries of lists from a file. Everything else stays, comments and layout included. A list
 * may be in lines, in brackets, or a text with commas. A list behind an alias, or in a text with
 * escapes, stays as it is; and so does a file that would lose a comment or another value.
 *
 * @returns the new text; null if nothing can be removed
 */
export function removeEntries(file: SourceFile, entries: readonly Entry[]): string | null {
  const { text } = file
  const before = parseAnyYaml(file)
  if (before.diagnostics.length > 0) return null
  const [trees, comments] = [parseText(text), findComments(text)]
  const values = new Map(before.documents.map(({ index, value }) => [index, value]))
  const edits: Edit[] = []
  const located = entries.flatMap((each) => locate(each, values.get(each.document)) ?? [])
  const lists = groupBy(located, ({ document, list }) => `${document} ${list}`)
  // Lists within others come first: the pointers of others stay the same then.
  for (const found of [...lists.values()].toSorted((a, b) => measureDepth(b) - measureDepth(a))) {
    const [first] = found
    if (first === undefined || located.some((other) => isWithin(first, other))) continue
    const { document, list } = first
    const indexes = new Set(found.map(({ index }) => index))
    const node = trees[document]?.getIn(parsePointer(list), true)
    const own = isSeq(node)
      ? (node.flow === true ? editBrackets : editLines)(node, indexes, text, comments)
      : isScalar(node)
        ? editCommas(node, indexes, text)
        : null
    if (own === null) continue
    append(edits, own)
    values.set(document, dropEntries(values.get(document) ?? null, list, indexes))
  }
  const edited = applyEdits(text, edits)
  const after = parseAnyYaml({ ...file, text: edited })
  const isAsMeant =
    after.diagnostics.length === 0 &&
    after.documents.length === values.size &&
    after.documents.every(({ index, value }) => isSameJson(value, values.get(index))) &&
    isSameJson(listTexts(edited, findComments(edited)), listTexts(text, comments))
  return isAsMeant && edited !== text ? edited : null
}

/** An entry by its index in its list. */
interface Located {
  document: number
  list: string
  index: number
}

/** Finds the list of an entry, and its index there: of several with its text the last one. */
function locate({ document, pointer, text }: Entry, value: Json | undefined): Located | null {
  const end = pointer.lastIndexOf('/')
  const [list, index] = [pointer.slice(0, end), Number(pointer.slice(end + 1))]
  const found = resolvePointer(value, pointer)
  const isEntry = Array.isArray(resolvePointer(value, list)) && found !== undefined
  if (isEntry && (text === null || text === found)) return { document, list, index }
  const last = text === null ? -1 : splitList(found).lastIndexOf(text)
  return last < 0 ? null : { document, list: pointer, index: last }
}

/** Splits a list, or a text with commas, into the texts of its entries. */
function splitList(value: Json | undefined): string[] {
  if (Array.isArray(value)) return value.map((each) => String(each).trim())
  return typeof value === 'string' ? value.split(',').map((each) => each.trim()) : []
}

function measureDepth([first]: Located[]): number {
  return first?.list.split('/').length ?? 0
}

/** Tests whether the list of an entry is in another entry. */
function isWithin({ document, list }: Located, other: Located): boolean {
  return document === other.document && `${list}/`.startsWith(`${other.list}/${other.index}/`)
}

function listTexts(text: string, comments: Comments): string[] {
  return comments.map(({ start, end }) => text.slice(start, end).trimEnd())
}

/** Removes parts of a text with commas; null if it is written with escapes, or in several lines. */
function editCommas({ range, value }: Scalar, indexes: Indexes, text: string): Edit[] | null {
  const [start, end] = range ?? [0, 0]
  const source = text.slice(start, end)
  const quote = /^['"]/.exec(source)?.[0] ?? ''
  if (source !== `${quote}${String(value)}${quote}`) return null
  return [{ start, end, text: quote + dropParts(String(value), indexes) + quote }]
}

function dropParts(value: string, indexes: Indexes): string {
  const kept = value.split(',').filter((_, i) => !indexes.has(i))
  return kept.join(',').trimStart()
}

/** Removes entries in brackets: each up to the next one, the last ones from the one before. */
function editBrackets({ items }: YAMLSeq, indexes: Indexes): Edit[] {
  return Array.from(indexes, (i) => {
    const [start, end] = getRange(items[i])
    const next = items[i + 1]
    if (next !== undefined) return { start, end: getRange(next)[0], text: '' }
    let first = i
    while (indexes.has(first - 1)) first--
    return { start: first === 0 ? start : getRange(items[first - 1])[1], end, text: '' }
  })
}

/** Removes entries in lines; a comment in one stays, as a line of its own. */
function editLines(
  { items }: YAMLSeq,
  indexes: Indexes,
  text: string,
  comments: Comments,
): Edit[] | null {
  const edits: Edit[] = []
  for (const i of indexes) {
    const [first, last] = getRange(items[i])
    const start = text.lastIndexOf('\n', first - 1) + 1
    const indent = /^( *)- +$/.exec(text.slice(start, first))?.[1]
    if (indent === undefined) return null
    const newline = text.indexOf('\n', text[last - 1] === '\n' ? last - 1 : last)
    const end = newline < 0 ? text.length : newline + 1
    const lineEnd = text[newline - 1] === '\r' ? '\r\n' : '\n'
    const kept = listTexts(
      text,
      comments.filter((comment) => comment.start >= start && comment.start < end),
    )
    edits.push({ start, end, text: kept.map((each) => indent + each + lineEnd).join('') })
  }
  return edits
}

function getRange(item: unknown): [start: number, end: number] {
  const [start, end] = (isNode(item) ? item.range : null) ?? [0, 0]
  return [start, end]
}

function applyEdits(text: string, edits: Edit[]): string {
  let [result, at] = ['', 0]
  for (const { start, end, text: added } of edits.toSorted((a, b) => a.start - b.start)) {
    result += text.slice(at, Math.max(at, start)) + added
    at = Math.max(at, end)
  }
  return result + text.slice(at)
}

/** Returns a value without some entries of a list in it. */
function dropEntries(value: Json, list: string, indexes: Indexes): Json {
  const found = resolvePointer(value, list)
  const rest = Array.isArray(found)
    ? found.filter((_, i) => !indexes.has(i))
    : dropParts(String(found), indexes)
  const patch = [{ op: 'replace' as const, path: list, value: rest }]
  return patches.applyPatch(value, patch, false, false).newDocument
}
