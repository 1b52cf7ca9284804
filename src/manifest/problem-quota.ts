import { inputLimits } from '../model/input-limits.ts'
import type { Diagnostic } from '../model/problem.ts'
import { createFileDiagnostic } from './finding.ts'
import type { DocumentPlace } from './yaml-file.ts'

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
