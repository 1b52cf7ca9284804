/** What is known about a regex of the common core. */
export interface CoreShape {
  /** Whether a quantifier follows a group. */
  repeatsGroup: boolean
}

const escapable = new Set('dDwWsS!"#$%&\'()*+,-./:;<=>?@[\\]^`{|}~')
const noAtom = new Set('\\^$.|?*+()[{')
const maxCount = 1000

/** Signals text outside the grammar. */
class OutsideError extends Error {}

/** Reads a regex by the grammar of the common core (request semantics, 3.1). */
class Reader {
  private at = 0
  private readonly text: string
  repeatsGroup = false

  constructor(text: string) {
    this.text = text
  }

  /** Reads the whole text; the result is the product of nested repetition counts. */
  readAll(): number {
    const count = this.readAlternatives()
    if (this.at < this.text.length) throw new OutsideError()
    return count
  }

  private get next(): string {
    return this.text[this.at] ?? ''
  }

  private accept(text: string): boolean {
    if (!this.text.startsWith(text, this.at)) return false
    this.at += text.length
    return true
  }

  private take(): string {
    const char = this.next
    if (char < ' ' || char > '~') throw new OutsideError()
    this.at++
    return char
  }

  private readAlternatives(): number {
    let count = this.readSequence()
    while (this.accept('|')) count = Math.max(count, this.readSequence())
    return count
  }

  private readSequence(): number {
    let count = 1
    while (this.next !== '' && this.next !== '|' && this.next !== ')') {
      if (this.accept('^') || this.accept('$') || this.accept('\\b') || this.accept('\\B')) continue
      const isGroup = this.next === '('
      const inner = this.readAtom()
      const times = this.readQuantifier()
      if (times !== null && isGroup) this.repeatsGroup = true
      count = Math.max(count, inner * Math.max(times ?? 1, 1))
    }
    if (count > maxCount) throw new OutsideError()
    return count
  }

  private readAtom(): number {
    if (this.accept('.')) return 1
    if (this.accept('(?:') || this.accept('(')) {
      const count = this.readAlternatives()
      if (!this.accept(')')) throw new OutsideError()
      return count
    }
    if (this.accept('[')) {
      this.readClass()
      return 1
    }
    if (this.accept('\\')) {
      this.readEscape()
      return 1
    }
    if (noAtom.has(this.take())) throw new OutsideError()
    return 1
  }

  private readEscape(): void {
    if (!escapable.has(this.take())) throw new OutsideError()
  }

  /** The count of a quantifier, 1 for `*`, `+` and `?`; null without a quantifier. */
  private readQuantifier(): number | null {
    const counted = /^\{(\d+)(?:,(\d*))?\}/.exec(this.text.slice(this.at))
    if (counted !== null) {
      const [all, low = '', high] = counted
      const max = high === undefined || high === '' ? Number(low) : Number(high)
      if (Number(low) > max || max > maxCount) throw new OutsideError()
      this.at += all.length
      this.accept('?')
      return max
    }
    if (!this.accept('*') && !this.accept('+') && !this.accept('?')) return null
    this.accept('?')
    return 1
  }

  private readClass(): void {
    this.accept('^')
    if (this.next === '^') throw new OutsideError()
    let isEmpty = true
    for (;;) {
      if (this.accept(']')) break
      // A minus sign stands for itself only before the end, after an element.
      if (!isEmpty && this.accept('-]')) return
      if (this.accept('\\')) this.readEscape()
      else this.readRange()
      isEmpty = false
    }
    if (isEmpty) throw new OutsideError()
  }

  private readRange(): void {
    const low = this.readClassChar()
    if (this.next !== '-' || this.text[this.at + 1] === ']') return
    this.at++
    if (this.readClassChar() < low) throw new OutsideError()
  }

  private readClassChar(): string {
    const char = this.take()
    if (char === '\\' || char === ']' || char === '-') throw new OutsideError()
    if (char === '[' && [':', '.', '='].includes(this.next)) throw new OutsideError()
    return char
  }
}

/** Reads a regex; null if it is outside the common core. */
export function parseCore(pattern: string): CoreShape | null {
  const reader = new Reader(pattern)
  try {
    reader.readAll()
    return { repeatsGroup: reader.repeatsGroup }
  } catch (error) {
    if (error instanceof OutsideError) return null
    throw error
  }
}
