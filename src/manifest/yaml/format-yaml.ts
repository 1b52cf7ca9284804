import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  visit,
  type Document,
  type Pair,
  type YAMLMap,
} from 'yaml'
import { isSameJson } from '../../core/model/json.ts'
import type { Diagnostic } from '../../core/model/problem.ts'
import { parseAnyYaml, type SourceFile } from './yaml-file.ts'
import { parseText, findYamlExcess } from './yaml-text.ts'
import { catalogue } from '../../core/catalog/catalogue.ts'
import { workspaceSchema } from '../workspace-file/generated/file-schemas.ts'
import { documentKeys } from '../manifests/document-keys.ts'

/**
 * The formatted text, the diagnostics of invalid YAML, or the reason why the file was left
 * unchanged.
 */
export type FormatResult = { text: string } | { diagnostics: Diagnostic[] } | { unchanged: string }

/**
 * Formats a YAML file of a workspace: keys in the order of the schemas, items in the order of the
 * specification, indentation of two blanks, indented lists, no blanks inside braces. Comments stay
 * with their neighbours; flow style stays, and each scalar as it is written. A document with
 * anchors keeps its order. All line ends become those of the first line.
 *
 * The result is verified before it is returned: it has the same values and formatting it again
 * changes nothing.
 */
export function formatYaml({ path, text }: SourceFile): FormatResult {
  // With the parser that formats it.
  const { diagnostics, documents } = parseAnyYaml({ path, text })
  if (diagnostics.length > 0) return { diagnostics }
  if (documents.length === 0) return { text }
  if (findYamlExcess(text, maxMarks) !== null) return { unchanged: 'it is too large to format' }
  const formatted = formatUntilStable(path, text)
  if (formatted === null) return { unchanged: 'formatting does not settle' }
  const again = parseAnyYaml({ path, text: formatted })
  const isSame =
    again.diagnostics.length === 0 &&
    isSameJson(
      documents.map(({ value }) => value),
      again.documents.map(({ value }) => value),
    )
  if (!isSame) return { unchanged: 'formatting it would change its values' }
  return { text: formatted }
}

/**
 * Formats until nothing changes, since comments in unusual places need several rounds; null if it
 * never settles, or is not valid between two rounds.
 */
function formatUntilStable(path: string, text: string): string | null {
  let last = text
  for (let round = 0; round < maxRounds; round++) {
    const next = formatOnce(path, last)
    if (next === null || next === last) return next
    last = next
  }
  return null
}

const maxRounds = 6
/** Marks of a file: it is parsed several times. */
const maxMarks = 250_000
/** Keeps quoted texts on one line. */
const noLimit = 10_000_000

function formatOnce(path: string, text: string): string | null {
  const documents = parseText(text)
  // A comment with a stray carriage return is printed as several lines.
  if (documents.some(({ errors }) => errors.length > 0)) return null
  const written = documents.map((document, i) => {
    if (!hasAnchors(document)) sortKeys(document.contents, findKeyOrder(path, document), true)
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

/** Tests whether a document has anchors or aliases: an alias must stay below its anchor. */
function hasAnchors(document: Document.Parsed): boolean {
  let found = false
  visit(document, {
    Node: (_key, node) => {
      found = isAlias(node) || node.anchor !== undefined
      return found ? visit.BREAK : undefined
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
    const index = keys.indexOf(getName(pair))
    return index < 0 ? keys.length : index
  }
  const sorted = node.items.toSorted((a, b) => rank(a) - rank(b))
  if (sorted.some((pair, i) => pair !== node.items[i])) reorder(node, sorted, top)
  for (const pair of node.items) sortKeys(pair.value, order?.properties?.[getName(pair)], false)
}

/**
 * Reorders pairs. Comments move with the key below them; a comment above the whole document stays
 * there.
 */
function reorder(map: YAMLMap, sorted: Pair[], top: boolean): void {
  const [first] = map.items
  const [next] = sorted
  if (isScalar(first?.key) && isScalar(next?.key) && first !== next) {
    if (top) {
      const head = first.key.commentBefore
      first.key.commentBefore = null
      next.key.commentBefore = joinComments(head, next.key.commentBefore)
    } else {
      first.key.commentBefore = joinComments(map.commentBefore, first.key.commentBefore)
      map.commentBefore = null
    }
    next.key.spaceBefore = false
  }
  map.items = sorted
}

function joinComments(a: string | null | undefined, b: string | null | undefined): string | null {
  const both = [a, b].filter(
    (comment) => comment !== null && comment !== undefined && comment !== '',
  )
  return both.length === 0 ? null : both.join('\n')
}

function getName({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : ''
}

/** The part of a JSON Schema that gives the order of keys. */
interface KeyOrder {
  properties?: Readonly<Record<string, KeyOrder>>
  items?: KeyOrder
}

const config: KeyOrder = {
  properties: Object.fromEntries([...catalogue].map(([item, { schema }]) => [item, schema])),
}

const workspace: KeyOrder = {
  properties: { ...(workspaceSchema.properties as Record<string, KeyOrder>), defaults: config },
}

/**
 * Finds the canonical key order of a document, whose kind its keys tell as they do for editors.
 * Tests and policies keep theirs.
 */
function findKeyOrder(path: string, { contents }: Document.Parsed): KeyOrder {
  const has = (key: string) => isMap(contents) && contents.has(key)
  if (path === 'edgewise.yaml' || has('version')) return workspace
  if (has('test') || has('policy')) return {}
  const keys = [...new Set([...documentKeys.manifest, ...documentKeys.profile])]
  return {
    properties: Object.fromEntries(
      ['profile', ...keys].map((key) => [key, key === 'config' ? config : {}]),
    ),
  }
}
