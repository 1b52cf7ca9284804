import patches from 'fast-json-patch'
import { type Scalar, type YAMLSeq, isAlias, isMap, isScalar, isSeq } from 'yaml'
import { type Json, isSameJson, parsePointer, resolvePointer } from '../../core/model/json.ts'
import { append, groupBy } from '../../core/model/lists.ts'
import { findComments } from './marked-comments.ts'
import { type SourceFile, parseAnyYaml } from './yaml-file.ts'
import { parseText } from './yaml-text.ts'

/** An entry of a list: the index of its document, and its pointer there, which ends in a number. */
export interface Entry {
  document: number
  pointer: string
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
  const lists = groupBy(entries, (each) => `${each.document} ${splitPointer(each.pointer)[0]}`)
  for (const found of lists.values()) {
    const [first] = found
    if (first === undefined) continue
    const { document } = first
    const [list] = splitPointer(first.pointer)
    const indexes = new Set(found.map((each) => splitPointer(each.pointer)[1]))
    const node = trees[document]?.getIn(parsePointer(list), true)
    const value = values.get(document)
    const own = isSeq(node)
      ? (node.flow === true ? editBrackets : editLines)(node, indexes, text, comments)
      : isScalar(node)
        ? editCommas(node, indexes, text)
        : null
    if (own === null || value === undefined) continue
    append(edits, own)
    values.set(document, dropEntries(value, list, indexes))
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

function splitPointer(pointer: string): [list: string, index: number] {
  const end = pointer.lastIndexOf('/')
  return [pointer.slice(0, end), Number(pointer.slice(end + 1))]
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
  const isNode = isScalar(item) || isMap(item) || isSeq(item) || isAlias(item)
  const [start, end] = (isNode ? item.range : null) ?? [0, 0]
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
