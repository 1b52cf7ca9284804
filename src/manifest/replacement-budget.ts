import { inputLimits } from '../model/input-limits.ts'
import type { Finding } from './finding.ts'

/** Units of a value, beside those of its text: it takes time even if it is empty. */
const unitsPerValue = 64

/** Counts what replacing references makes: a small file may stand for gigabytes of text. */
export class ReplacementBudget {
  #domain = 0
  #all = 0

  /** Begins another domain. */
  begin(): void {
    this.#domain = 0
  }

  /** Counts a text after its references are replaced. */
  addText(text: string): void {
    this.#domain += text.length
    this.#all += text.length
  }

  /** Counts the values of an item that is made for this domain alone. */
  addValues(count: number): void {
    this.#all += count * unitsPerValue
  }

  /** Finds why no more may be replaced. */
  findProblems(pointer: string): Finding[] {
    const isOfDomain = this.#domain > inputLimits.replacedLength
    if (!isOfDomain && this.#all <= inputLimits.replacedInAll) return []
    const [max, what] = isOfDomain
      ? [inputLimits.replacedLength, 'one domain']
      : [inputLimits.replacedInAll, 'all domains together']
    const detail =
      `expected at most ${max / 1024 / 1024} MiB of text of ${what} after references are ` +
      'replaced, got more. Use shorter variables, fewer references, or fewer domains.'
    // Which text is one too many depends on the other domains.
    const place = isOfDomain ? pointer : pointer.split('/').slice(0, 2).join('/')
    return [{ code: 'item-invalid', pointer: place, summary: 'Too much text', detail }]
  }
}
