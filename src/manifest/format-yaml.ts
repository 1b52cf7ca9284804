import { isMap, isScalar, isSeq, visit, type Document, type Pair, type YAMLMap } from 'yaml'
import { isSameJson } from '../model/canonical-json.ts'
import type { Diagnostic } from '../model/problem.ts'
import { getKeyOrder, type KeyOrder } from './key-order.ts'
import { parseYaml, type SourceFile } from './yaml-file.ts'
import { parseText } from './yaml-text.ts'

/**
 * A file in canonical style; or why it was left alone: it is no YAML, or it would not stay what it
 * is.
 */
export type FormatResult = { text: string } | { diagnostics: Diagnostic[] } | { unchanged: string }

/**
 * A YAML file of a workspace in canonical order and style: keys as the schemas have them, items as
 * the specification has them, two blanks of indentation, lists set in, no blanks inside braces.
 * Comments stay with what they stand beside, and quotes, flow style and block texts stay as they
 * are. A document with anchors keeps its order. Line ends stay what the first one is.
 *
 * The result is held against the file before it is given: the same values, and nothing left to
 * format.
 */
export function formatYaml({ path, text }: SourceFile): FormatResult {
  const { diagnostics, documents } = parseYaml({ path, text })
  if (diagnostics.length > 0) return { diagnostics }
  if (documents.length === 0) return { text }
  const formatted = settled(path, text)
  if (formatted === null) return { unchanged: 'formatting it comes to no end' }
  const again = parseYaml({ path, text: formatted })
  const same =
    again.diagnostics.length === 0 &&
    isSameJson(
      documents.map(({ value }) => value),
      again.documents.map(({ value }) => value),
    )
  if (!same) return { unchanged: 'formatting it would change its values' }
  return { text: formatted }
}

/** Comments in odd places take a few rounds to come to rest; null where they never do. */
function settled(path: string, text: string): string | null {
  let last = text
  for (let round = 0; round < mostRounds; round++) {
    const next = styled(path, last)
    if (next === last) return next
    last = next
  }
  return null
}

const mostRounds = 6
/** Quoted texts stay on their line. */
const noLimit = 10_000_000

function styled(path: string, text: string): string {
  const documents = parseText(text)
  const written = documents.map((document, i) => {
    if (!hasAnchors(document)) sortKeys(document.contents, getKeyOrder(path), true)
    document.directives.docStart = i > 0 ? true : null
    document.directives.docEnd = false
    return document.toString({
      lineWidth: 0,
      indent: 2,
      indentSeq: true,
      flowCollectionPadding: false,
      doubleQuotedMinMultiLineLength: noLimit,
    })
  })
  const joined = written.map((each) => (each.endsWith('\n') ? each : `${each}\n`)).join('')
  const [lineEnd] = /\r?\n/.exec(text) ?? []
  return lineEnd === '\r\n' ? joined.replace(/\r?\n/g, '\r\n') : joined
}

/** An alias has to stay below its anchor. */
function hasAnchors(document: Document.Parsed): boolean {
  let found = false
  visit(document, {
    Alias: () => {
      found = true
      return visit.BREAK
    },
    Node: (_key, node) => {
      if (!('anchor' in node) || node.anchor === undefined) return undefined
      found = true
      return visit.BREAK
    },
  })
  return found
}

function sortKeys(node: unknown, order: KeyOrder | undefined, top: boolean): void {
  if (isSeq(node)) {
    for (const entry of node.items) sortKeys(entry, order?.items, false)
    return
  }
  if (!isMap(node)) return
  const keys = Object.keys(order?.properties ?? {})
  const rank = (pair: Pair) => {
    const at = keys.indexOf(nameOf(pair))
    return at < 0 ? keys.length : at
  }
  const sorted = node.items.toSorted((a, b) => rank(a) - rank(b))
  if (sorted.some((pair, i) => pair !== node.items[i])) reorder(node, sorted, top)
  for (const pair of node.items) sortKeys(pair.value, order?.properties?.[nameOf(pair)], false)
}

/** Comments move with the key below them; what stands above a whole document stays there. */
function reorder(map: YAMLMap, sorted: Pair[], top: boolean): void {
  const [first] = map.items
  const [next] = sorted
  if (isScalar(first?.key) && isScalar(next?.key) && first !== next) {
    if (top) {
      const head = first.key.commentBefore
      first.key.commentBefore = null
      next.key.commentBefore = joinedComments(head, next.key.commentBefore)
    } else {
      first.key.commentBefore = joinedComments(map.commentBefore, first.key.commentBefore)
      map.commentBefore = null
    }
    next.key.spaceBefore = false
  }
  map.items = sorted
}

function joinedComments(a: string | null | undefined, b: string | null | undefined): string | null {
  const both = [a, b].filter(
    (comment) => comment !== null && comment !== undefined && comment !== '',
  )
  return both.length === 0 ? null : both.join('\n')
}

function nameOf({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : ''
}
