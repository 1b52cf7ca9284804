import { isMap, isScalar, type Node, type Pair, type YAMLMap } from 'yaml'
import { isSameJson } from '../model/canonical-json.ts'
import { getOwn, isObject, type JsonObject } from '../model/json.ts'
import { getKeyOrder } from './key-order.ts'
import { parseYaml, type SourceFile } from './yaml-file.ts'
import { parseText } from './yaml-text.ts'

/** A secret to add: its name, and the environment variable of its value. */
export interface AddedSecret {
  name: string
  variable: string
}

/** Text to insert at an offset. */
interface Insertion {
  at: number
  text: string
}

const comment = [
  '# Added by "edgewise import". Set each variable to the value that the service has, or',
  '# use {file: path} or {command: [program, argument]} instead of {env: NAME}.',
]

/**
 * Adds secrets to the workspace file. Only inserts text, so that comments and layout stay.
 *
 * @returns the new text; null if the file has a form that can't be extended
 */
export function addSecrets(file: SourceFile, secrets: AddedSecret[]): string | null {
  const [document, ...others] = parseText(file.text)
  const contents = document?.contents
  if (others.length > 0 || !isMap(contents)) return null
  const insertions = insert(contents, file.text, secrets)
  const lineEnd = /\r?\n/.exec(file.text)?.[0] ?? '\n'
  const text = insertions
    .toSorted((a, b) => b.at - a.at)
    .reduce(
      (whole, { at, text: added }) =>
        whole.slice(0, at) + added.replaceAll('\n', lineEnd) + whole.slice(at),
      file.text,
    )
  return hasAdded(file, { ...file, text }, secrets) ? text : null
}

function insert(root: YAMLMap, text: string, secrets: AddedSecret[]): Insertion[] {
  const pair = root.items.find(({ key }) => isScalar(key) && key.value === 'secrets')
  const present = pair?.value ?? null
  if (root.flow === true) {
    const entries = formatFlow(secrets, true)
    if (isMap(present)) return [insertIntoFlow(present, entries)]
    return pair === undefined ? [insertIntoFlow(root, `"secrets": {${entries}}`)] : []
  }
  const rootIndent = findIndent(root.items[0], text)
  if (pair === undefined) {
    const at = findKeyPlace(root, rootIndent, text)
    const start = text === '' || text[at - 1] === '\n' ? '' : '\n'
    const lines = formatBlock(secrets, `${rootIndent}  `, text)
    return [{ at, text: `${start}${rootIndent}secrets:\n${lines}` }]
  }
  if (isMap(present) && present.flow === true) {
    const keyLine = text.lastIndexOf('\n', getRange(pair.key)[0]) + 1
    const lines = listComment(text)
      .map((line) => `${rootIndent}${line}\n`)
      .join('')
    return [{ at: keyLine, text: lines }, insertIntoFlow(present, formatFlow(secrets, false))]
  }
  const isEmpty = !isMap(present)
  const indent = isEmpty ? `${rootIndent}  ` : findIndent(present.items[0], text)
  const end = isEmpty ? getRange(pair.key)[1] : findEnd(present)
  const lineBreak = text[end - 1] === '\n' ? end - 1 : text.indexOf('\n', end)
  const at = lineBreak < 0 ? text.length : lineBreak + 1
  return [{ at, text: `${lineBreak < 0 ? '\n' : ''}${formatBlock(secrets, indent, text)}` }]
}

/** Lists the lines of the comment; none if the file has it. */
function listComment(text: string): string[] {
  return comment.every((line) => text.includes(line)) ? [] : comment
}

/** Finds the line before which `edgewise fmt` would have the secrets, with its comment. */
function findKeyPlace(root: YAMLMap, indent: string, text: string): number {
  const order = Object.keys(getKeyOrder('edgewise.yaml').properties ?? {})
  const rank = ({ key }: Pair) => order.indexOf(isScalar(key) ? String(key.value) : '')
  const next = root.items.find((pair) => rank(pair) > order.indexOf('secrets'))
  if (next === undefined) return text.length
  let at = text.lastIndexOf('\n', getRange(next.key)[0] - 1) + 1
  for (let above = at; above > 0;) {
    above = text.lastIndexOf('\n', above - 2) + 1
    if (!text.startsWith(`${indent}#`, above)) break
    at = above
  }
  return at
}

function formatBlock(secrets: AddedSecret[], indent: string, text: string): string {
  const entries = secrets.map(({ name, variable }) => `${name}: {env: ${variable}}`)
  return [...listComment(text), ...entries].map((line) => `${indent}${line}\n`).join('')
}

function formatFlow(secrets: AddedSecret[], isQuoted: boolean): string {
  const entries = secrets.map(({ name, variable }) =>
    isQuoted ? `"${name}": {"env": "${variable}"}` : `${name}: {env: ${variable}}`,
  )
  return entries.join(', ')
}

/** Inserts entries after the last one of a flow mapping. */
function insertIntoFlow(map: YAMLMap, entries: string): Insertion {
  return map.items.length === 0
    ? { at: getRange(map)[0] + 1, text: entries }
    : { at: findEnd(map), text: `, ${entries}` }
}

/** Returns the blanks before the key of a block mapping's pair. */
function findIndent(pair: Pair | undefined, text: string): string {
  const [start] = getRange(pair?.key)
  return text.slice(text.lastIndexOf('\n', start - 1) + 1, start)
}

/** Returns the end of the last value of a mapping. */
function findEnd(map: YAMLMap): number {
  const last = map.items.at(-1)
  const value = last?.value
  if (isMap(value) && value.flow !== true && value.items.length > 0) return findEnd(value)
  return getRange(value ?? last?.key)[1]
}

function getRange(node: unknown): [start: number, end: number] {
  const [start = 0, end = 0] = (node as Node | undefined)?.range ?? []
  return [start, end]
}

/** Tests whether a file has the secrets, and nothing else is changed. */
function hasAdded(before: SourceFile, after: SourceFile, secrets: AddedSecret[]): boolean {
  const [old] = parseYaml(before).documents
  const { documents, diagnostics } = parseYaml(after)
  if (!isObject(old?.value) || documents.length !== 1 || diagnostics.length > 0) return false
  const known = getOwn(old.value, 'secrets')
  const added: JsonObject = Object.fromEntries(
    secrets.map(({ name, variable }) => [name, { env: variable }]),
  )
  const expected = { ...old.value, secrets: { ...(isObject(known) ? known : {}), ...added } }
  return isSameJson(documents[0]?.value, expected)
}
