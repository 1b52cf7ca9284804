import { parseCore, type CharSet, type Node } from '../../trace/regex/syntax.ts'

/**
 * Writes texts that a core expression most often matches, with something different in every group
 * and repetition; one for each alternative, at most four. None for what is outside of the core.
 */
export function sampleMatches(pattern: string): string[] {
  const core = parseCore(pattern)
  if (core === null) return []
  return [...new Set([0, 1, 2, 3].map((turn) => writeSample(core.node, { turn, next: 0 })))]
}

/** Which alternative is taken, and which of the plain characters comes next. */
interface Pen {
  turn: number
  next: number
}

function writeSample(node: Node, pen: Pen): string {
  switch (node.kind) {
    case 'char':
      return pickChar(node.chars, pen.next++)
    case 'group':
      return writeSample(node.of, pen)
    case 'sequence':
      return node.of.map((part) => writeSample(part, pen)).join('')
    case 'choice':
      return writeSample(node.of[pen.turn % node.of.length] ?? { kind: 'empty' }, pen)
    case 'repeat': {
      const count = Math.min(Math.max(node.min, 1), node.max)
      return Array.from({ length: count }, () => writeSample(node.of, pen)).join('')
    }
    default:
      return ''
  }
}

const plain = Array.from('abcdefghijklmnopqrstuvwxyz0123456789-._~ABCDEFGHIJKLMNOPQRSTUVWXYZ')

function pickChar({ ascii }: CharSet, turn: number): string {
  const has = (char: string) => ascii[char.charCodeAt(0)] === 1
  const fitting = plain.filter(has)
  const others = ascii.findIndex((is, i) => is === 1 && i > 32)
  return fitting[turn % fitting.length] ?? (others < 0 ? '' : String.fromCharCode(others))
}
