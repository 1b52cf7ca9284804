import type { Node } from './syntax.ts'

/**
 * Finds a text that stands in every text that an expression matches, in lower case: the longest
 * run of single characters in it; empty if there is none.
 */
export function findLiteral(node: Node): string {
  let longest = ''
  let run = ''
  const end = () => {
    if (run.length > longest.length) longest = run
    run = ''
  }
  const visit = (part: Node): void => {
    if (part.kind === 'sequence') part.of.forEach(visit)
    else if (part.kind === 'group') visit(part.of)
    else if (part.kind === 'char') {
      const char = findOnlyChar(part.chars.ascii, part.chars.others)
      if (char === null) end()
      else run += char
    } else if (part.kind === 'choice' || part.kind === 'repeat') end()
  }
  visit(node)
  end()
  return longest.toLowerCase()
}

function findOnlyChar(ascii: Uint8Array, others: boolean): string | null {
  const code = ascii.indexOf(1)
  return others || code < 0 || ascii.includes(1, code + 1) ? null : String.fromCharCode(code)
}
