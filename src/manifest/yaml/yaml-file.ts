import type { YAMLError } from 'yaml'
import type { Json } from '../../core/model/json.ts'
import type { Diagnostic } from '../../core/model/problem.ts'
import { parsePlainYaml } from './parse-plain-yaml.ts'
import type { WrittenScalar } from './written-scalar.ts'
import { convertToJson, quoteStar, type YamlFault } from './yaml-json.ts'
import { findLineStarts, parseText, locateRange, findYamlExcess } from './yaml-text.ts'

/** A file of the workspace; `path` is relative to the root, with `/`. */
export interface SourceFile {
  path: string
  text: string
}

/** Place of a document: its file, and its index there. */
export interface DocumentPlace {
  file: SourceFile
  index: number
}

/** One document of a YAML file, without positions; `findPlace` computes them on demand. */
export interface YamlDocument extends DocumentPlace {
  value: Json
  /** Scalars whose values don't show what is written; absent in a plain file, which has none. */
  written?: WrittenScalar[]
}

/** A YAML file with its valid, non-empty documents, and diagnostics of the others. */
export interface ParsedFile {
  file: SourceFile
  documents: YamlDocument[]
  diagnostics: Diagnostic[]
}

const maxFaults = 20

/**
 * Parses a YAML 1.2 file into its valid, non-empty documents, and diagnostics of the others.
 * Warnings of the parser (unknown tags and directives) count as errors, as do keys that are not
 * strings and numbers that JSON can't represent.
 */
export function parseYaml(file: SourceFile): ParsedFile {
  const values = parsePlainYaml(file.text)
  if (values === null) return parseAnyYaml(file)
  return {
    file,
    documents: values.map((value, index) => ({ file, index, value })),
    diagnostics: [],
  }
}

/** Parses a file as `parseYaml` does, with the parser that reports diagnostics. */
export function parseAnyYaml(file: SourceFile): ParsedFile {
  const excess = findYamlExcess(file.text)
  if (excess !== null)
    return { file, documents: [], diagnostics: [createYamlDiagnostic(file, 0, excess)] }
  const documents = parseText(file.text, excess)
  const conflict = findConflict(file.text)
  let lineStarts: number[] | undefined
  const parsed: YamlDocument[] = []
  const diagnostics: Diagnostic[] = []
  for (const [index, document] of documents.entries()) {
    const { value, faults, written } = convertToJson(document.contents)
    const errors = [...document.errors, ...document.warnings]
    if (conflict !== null && errors.length > 0)
      return { file, documents: [], diagnostics: [createYamlDiagnostic(file, index, conflict)] }
    // The parser ends where its stack does, which differs between threads. The nesting is a fault.
    const isTooDeep = errors.some(({ code }) => code === 'RESOURCE_EXHAUSTION')
    const syntax = findUnquoted(file.text, errors) ?? errors.map(createFault)
    const faultsFound = syntax.length === 0 || (isTooDeep && faults.length > 0) ? faults : syntax
    if (faultsFound.length > 0) lineStarts ??= findLineStarts(file.text)
    for (const fault of faultsFound.slice(0, Math.max(0, maxFaults - diagnostics.length)))
      diagnostics.push(createYamlDiagnostic(file, index, fault, lineStarts))
    if (faultsFound.length === 0 && value !== null) parsed.push({ file, index, value, written })
  }
  return { file, documents: parsed, diagnostics }
}

function createYamlDiagnostic(
  { path, text }: SourceFile,
  document: number,
  { start, end, detail }: YamlFault,
  lineStarts = findLineStarts(text),
): Diagnostic {
  return {
    severity: 'error',
    code: 'yaml-invalid',
    summary: 'This is not valid YAML',
    detail,
    ...locateRange(path, text, lineStarts, start, Math.max(end, start + 1)),
    document,
  }
}

function createFault(error: YAMLError): YamlFault {
  const [start, end] = error.pos
  return { start, end, detail: describeError(error) }
}

/** Finds the first marker of a merge that git left to be resolved. */
function findConflict(text: string): YamlFault | null {
  const start = text.search(/^([<=>|])\1{6}(?!\1)/m)
  const detail = 'this marks an unresolved merge conflict. Resolve it.'
  return start < 0 ? null : { start, end: start + 7, detail }
}

/**
 * Finds text that lacks quotes: a reference within `{…}` or `[…]`, whose `{` the parser takes for a
 * mapping, or a `*`, which it takes for an alias. This one fault replaces errors up to the end of
 * the line.
 */
function findUnquoted(text: string, errors: YAMLError[]): YamlFault[] | null {
  const [from = 0] = errors[0]?.pos ?? []
  const star = /[-:,[{] *(\*\S*)$/.exec(text.slice(text.lastIndexOf('\n', from - 1) + 1, from + 1))
  if (star !== null)
    return [{ start: from + 1 - (star[1]?.length ?? 0), end: from + 1, detail: quoteStar }]
  const error = errors.find(({ pos: [start] }) => start > 0 && text.startsWith('${', start - 1))
  if (error === undefined) return null
  const detail =
    'expected quotes around a value with "${…}". Write "${secret:NAME}" with the quotes.'
  return [{ start: error.pos[0] - 1, end: error.pos[1], detail }]
}

function describeError(error: YAMLError): string {
  switch (error.code) {
    case 'TAB_AS_INDENT':
      return 'expected spaces as indentation, got a tab. Replace it with spaces.'
    case 'BAD_INDENT':
      return error.message.includes('at the same column')
        ? 'expected the indentation of the lines above, got another one.'
        : error.message.replace(
            /^Flow (map|sequence) .* end with a ([}\]])$/,
            (_, kind: string, end: string) =>
              `expected "${end}" above, which closes the ${kind === 'map' ? 'mapping' : 'list'}.`,
          )
    case 'MULTILINE_IMPLICIT_KEY':
      return 'expected "key: value", got text without ": ".'
    case 'RESOURCE_EXHAUSTION':
      return 'expected less nesting. Flatten this value.'
    case 'TAG_RESOLVE_FAILED':
      return `${error.message}. Remove tags ("!…"), or put quotes around text that begins with "!".`
    case 'BLOCK_AS_IMPLICIT_KEY':
      return 'this line has a second ": ". Put quotes around a value that contains ": ".'
    default:
      // The parser quotes the source, which may be a secret.
      return error.message.replace(/: ".*$/s, '')
  }
}
