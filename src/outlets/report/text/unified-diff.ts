/** A line of a diff: of both texts, only before, or only after; numbers from 1. */
interface Line {
  mark: ' ' | '-' | '+'
  before: number
  after: number
}

/** Number of equal lines around a difference. */
const context = 3

/**
 * Formats the differences of two texts as a unified diff of one file.
 *
 * @param show shows a line of the text before or after by its number, from 1
 */
export function formatUnifiedDiff(
  path: string,
  before: string,
  after: string,
  show: (side: 'before' | 'after', line: number) => string,
): string {
  const lines = compareLines(splitLines(before), splitLines(after))
  const isNear = lines.map((_, i) =>
    lines.slice(Math.max(0, i - context), i + context + 1).some(({ mark }) => mark !== ' '),
  )
  const shown: string[] = [`--- a/${path}`, `+++ b/${path}`]
  for (let i = 0; i < lines.length; i++) {
    if (isNear[i] !== true) continue
    const end = isNear.indexOf(false, i)
    const hunk = lines.slice(i, end < 0 ? lines.length : end)
    const count = (other: Line['mark']) => hunk.filter(({ mark }) => mark !== other).length
    const { before: old = 0, after: own = 0 } = hunk[0] ?? {}
    shown.push(`@@ -${old},${count('+')} +${own},${count('-')} @@`)
    for (const line of hunk)
      shown.push(
        line.mark + (line.mark === '+' ? show('after', line.after) : show('before', line.before)),
      )
    i += hunk.length
  }
  return `${shown.join('\n')}\n`
}

function splitLines(text: string): string[] {
  return text.replace(/\n$/, '').split('\n')
}

/** Compares two lists of lines: after a difference, the nearest equal line follows. */
function compareLines(before: string[], after: string[]): Line[] {
  const lines: Line[] = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    const [removed, added] = findNext(before, after, i, j)
    for (let k = 0; k < removed; k++) lines.push({ mark: '-', before: ++i, after: j + 1 })
    for (let k = 0; k < added; k++) lines.push({ mark: '+', before: i + 1, after: ++j })
    if (i < before.length && j < after.length) lines.push({ mark: ' ', before: ++i, after: ++j })
  }
  return lines
}

/** Finds how many lines differ up to the next equal one, on both sides: as few as possible. */
function findNext(
  before: string[],
  after: string[],
  i: number,
  j: number,
): [removed: number, added: number] {
  const [left, right] = [before.length - i, after.length - j]
  for (let sum = 0; sum < left + right; sum++)
    for (let added = Math.max(0, sum - left + 1); added <= Math.min(sum, right - 1); added++)
      if (before[i + sum - added] === after[j + added]) return [sum - added, added]
  return [left, right]
}
