import { findLineStarts, locateRange } from '../../manifest/yaml/yaml-text.ts'
import type { Domain, ItemKey } from '../../core/model/item.ts'
import type { Json } from '../../core/model/json.ts'
import { parseJsonTexts, scanJson, type JsonScan } from '../../core/model/text/json-scan.ts'
import type { Diagnostic, DiagnosticCode, Place } from '../../core/model/problem.ts'

/** File to import: its name for messages, and its text or the reason why it can't be loaded. */
export type ImportSource = {
  name: string
  /** Absolute path; absent for stdin. */
  path?: string
  /** Skip items that can't be imported instead of refusing all; they are listed. */
  skipsInvalid?: boolean
  /** Number header rules without an order, in the manifests that are written. */
  numbersRules?: boolean
} & ({ text: string } | { fault: string })

/** A problem of an import file, which is placed when all problems are known. */
interface FileProblem {
  code: DiagnosticCode
  summary: string
  detail(): string
  /** Part of the pointer's field that is wrong; default: its value. */
  part?: 'key' | 'value'
  domain?: string
  item?: string
}

const notJson = 'This file can not be imported'

/** An import file with its data, and the problems found in it. */
export class ImportFile {
  /** Data of the file; undefined if it has none. */
  readonly data: Json | undefined
  /** Whether items that can't be imported are skipped, and which were, with the reason. */
  readonly skipsInvalid: boolean
  readonly numbersRules: boolean
  readonly skipped: { domain: Domain; item: ItemKey; reason: string }[] = []
  readonly #name: string
  readonly #text: string
  readonly #problems: { pointer: string; problem: FileProblem }[] = []
  readonly #diagnostics: Diagnostic[] = []
  readonly #wanted = new Set<string>()
  #isSeries = false
  #scan: JsonScan | null = null
  #lineStarts: number[] | null = null

  constructor(source: ImportSource) {
    this.#name = source.name
    this.skipsInvalid = source.skipsInvalid === true
    this.numbersRules = source.numbersRules === true
    this.#text = 'text' in source ? source.text : ''
    if ('fault' in source) {
      this.#add('file-unreadable', source.fault, 0, 0)
      return
    }
    const { data, starts, fault, duplicates } = parseJsonTexts(source.text)
    this.data = data
    this.#isSeries = starts.length > 0
    if (fault !== null)
      this.#add(
        'file-invalid',
        fault.isTooDeep === true ? fault.reason : `it is not JSON: ${fault.reason}`,
        fault.at,
        fault.at + 1,
      )
    for (const [start, end] of duplicates)
      this.#add(
        'file-invalid',
        'this key occurs twice in its object: only one of the values would count',
        start,
        end,
      )
  }

  /** Whether a problem was found in the file. */
  get hasProblems(): boolean {
    return this.#problems.length + this.#diagnostics.length > 0
  }

  /** Reports a problem at a JSON pointer. */
  report(pointer: string, problem: FileProblem): void {
    this.want(pointer)
    this.#problems.push({ pointer, problem })
  }

  /** Notes a pointer whose place is needed later. */
  want(pointer: string): void {
    for (const each of listAncestors(pointer)) this.#wanted.add(each)
  }

  /** Reports that the file has another shape than expected. */
  reportShape(pointer: string, detail: string): void {
    this.report(pointer, { code: 'file-invalid', summary: notJson, detail: () => detail })
  }

  /** Formats the place of a wanted pointer as `file:line:column`. */
  formatPlace(pointer: string): string {
    const { file, line, column } = this.#locate(pointer, 'key')
    return `${file}:${line}:${column}`
  }

  /** Returns all problems with their places. */
  diagnose(): Diagnostic[] {
    const placed = this.#problems.map(({ pointer, problem }): Diagnostic => {
      const { detail, part = 'value', ...about } = problem
      const place = this.#locate(pointer, part)
      return { severity: 'error', ...about, detail: detail(), ...place, document: 0 }
    })
    return [...this.#diagnostics, ...placed]
  }

  #add(code: DiagnosticCode, detail: string, start: number, end: number): void {
    const place = this.#placeRange(start, end)
    const about = { severity: 'error' as const, code, summary: notJson, detail }
    this.#diagnostics.push({ ...about, ...place, document: 0 })
  }

  /** Finds the place of a pointer, or of its nearest existing parent. */
  #locate(pointer: string, part: 'key' | 'value'): Place {
    this.#scan ??= scanJson(this.#text, this.#wanted, this.#isSeries)
    for (const at of listAncestors(pointer)) {
      const found = this.#scan.places.get(at)
      if (found === undefined) continue
      const [start, end] = (part === 'key' ? found.key : null) ?? found.value
      return this.#placeRange(start, end)
    }
    return this.#placeRange(0, 0)
  }

  #placeRange(start: number, end: number): Place {
    this.#lineStarts ??= findLineStarts(this.#text)
    return locateRange(this.#name, this.#text, this.#lineStarts, start, end)
  }
}

/** Lists a JSON pointer and those of its parents, from the inside. */
function listAncestors(pointer: string): string[] {
  const steps = pointer.split('/').slice(1)
  return [...steps.keys(), steps.length]
    .map((count) =>
      steps
        .slice(0, count)
        .map((step) => `/${step}`)
        .join(''),
    )
    .toReversed()
}
