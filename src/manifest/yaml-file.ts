import type { YAMLError } from 'yaml'
import { isScalar } from 'yaml'
import type { Json } from '../model/json.ts'
import type { Diagnostic } from '../model/problem.ts'
import { convertToJson } from './yaml-json.ts'
import { findLineStarts, parseText, locateRange } from './yaml-text.ts'

/** A file of the workspace; `path` is relative to the root, with `/`. */
export interface SourceFile {
  path: string
  text: string
}

/**
 * One document of a YAML file, without its positions: `placeIn` finds them when a message needs
 * one.
 */
export interface YamlDocument {
  file: SourceFile
  index: number
  value: Json
}

const mostFaults = 20

/**
 * The documents of a YAML 1.2 file that are whole, without the empty ones, and what is wrong with
 * the others. Warnings of the parser (unknown tags and directives) count as errors, as do keys that
 * are no strings and numbers JSON can't keep.
 */
export function parseYaml(file: SourceFile): {
  documents: YamlDocument[]
  diagnostics: Diagnostic[]
} {
  const documents = parseText(file.text)
  let lineStarts: number[] | undefined
  const read: YamlDocument[] = []
  const diagnostics: Diagnostic[] = []
  documents.forEach((document, index) => {
    const { value, faults } = convertToJson(document.contents)
    const syntax = [...document.errors, ...document.warnings].map((error) => ({
      start: error.pos[0],
      end: error.pos[1],
      detail: wordsFor(error),
    }))
    const found = syntax.length > 0 ? syntax : faults
    if (found.length > 0) lineStarts ??= findLineStarts(file.text)
    for (const { start, end, detail } of found.slice(
      0,
      Math.max(0, mostFaults - diagnostics.length),
    )) {
      const place = locateRange(
        file.path,
        file.text,
        lineStarts ?? [0],
        start,
        Math.max(end, start + 1),
      )
      diagnostics.push({
        severity: 'error',
        code: 'yaml-invalid',
        summary: 'This is not valid YAML',
        detail,
        ...place,
        document: index,
      })
    }
    const empty =
      document.contents === null ||
      (isScalar(document.contents) && document.contents.value === null)
    if (found.length === 0 && !empty) read.push({ file, index, value })
  })
  return { documents: read, diagnostics }
}

function wordsFor(error: YAMLError): string {
  switch (error.code) {
    case 'TAB_AS_INDENT':
      return 'expected spaces as indentation, got a tab. Replace it by spaces.'
    case 'RESOURCE_EXHAUSTION':
      return 'expected less nesting than this'
    case 'TAG_RESOLVE_FAILED':
      return `${error.message}. Leave tags ("!…") out; put quotes around text that begins with "!".`
    case 'BLOCK_AS_IMPLICIT_KEY':
      return 'a second ": " stands in this line. Put quotes around a value that contains ": ".'
    default:
      // The parser quotes what it met, and that may be a secret.
      return error.message.replace(/: ".*$/s, '')
  }
}
