import type { Diagnostic, Severity } from '../../core/model/problem.ts'
import type { DocumentPlace } from '../yaml/yaml-file.ts'
import { findPlace } from '../yaml/yaml-place.ts'
import { inputLimits } from '../../core/model/input-limits.ts'

/** A problem without its place. */
export interface Fault extends Pick<
  Diagnostic,
  'code' | 'summary' | 'detail' | 'domain' | 'item' | 'related'
> {
  severity?: Severity
}

/** A problem at a pointer of a document. With `part: 'key'` the key is wrong, not its value. */
export interface Finding extends Fault {
  pointer: string
  part?: 'key'
  /** It reports a missing field, which a manifest may have. */
  missing?: true
}

/** Adds the place in the document to a finding. */
export function createDiagnostic(document: DocumentPlace, finding: Finding): Diagnostic {
  const { pointer, part, missing: _, ...fault } = finding
  return {
    severity: 'error',
    ...fault,
    ...findPlace(document, pointer, part),
    document: document.index,
    pointer,
  }
}

/** Creates a diagnostic about a whole file, at 1:1. */
export function createFileDiagnostic(file: string, fault: Fault): Diagnostic {
  return {
    severity: 'error',
    ...fault,
    file,
    line: 1,
    column: 1,
    endLine: 1,
    endColumn: 1,
    document: 0,
  }
}

/**
 * Counts the problems of each file. Those beyond a number that nobody reads are counted only:
 * finding the place and the words of each takes most of the time of a broken file.
 */
export class ProblemQuota {
  readonly #counts = new Map<string, number>()
  readonly #flawed = new Set<string>()

  /** Returns those of a document's problems that are still worked out. */
  take<Found>(document: DocumentPlace, problems: Found[]): Found[] {
    const { path } = document.file
    const count = this.#counts.get(path) ?? 0
    if (problems.length > 0) {
      this.#counts.set(path, count + problems.length)
      this.#flawed.add(formatKey(document))
    }
    return problems.slice(0, Math.max(0, inputLimits.problems - count))
  }

  /** Tests whether a document had a problem, worked out or not. */
  isFlawed(document: DocumentPlace): boolean {
    return this.#flawed.has(formatKey(document))
  }

  /** Returns a diagnostic for each file with more problems: their number, after all others. */
  summarize(): Diagnostic[] {
    return [...this.#counts].flatMap(([path, count]) => {
      const rest = count - inputLimits.problems
      if (rest <= 0) return []
      const fault = { code: 'too-many-problems', summary: '', detail: '' } as const
      return [{ ...createFileDiagnostic(path, fault), line: Infinity, count: rest }]
    })
  }
}

function formatKey({ file, index }: DocumentPlace): string {
  return `${index} ${file.path}`
}
