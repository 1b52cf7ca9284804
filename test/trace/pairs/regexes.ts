import type { Chance } from '../../simulation/chance.ts'
import { extensions, folders, parameters, stems } from './words.ts'

/** A regular expression and a text that it most often matches. */
export interface Sampled {
  text: string
  sample: string
}

/** Classes of the common core, with characters that they have. */
const classes: [string, string][] = [
  ['[a-c]', 'abc'],
  ['[^/]', 'ax1'],
  ['[^/?]', 'bz-'],
  ['[0-9a-f]', '0f9'],
  ['[./]', './'],
  ['[a-]', 'a-'],
  ['[\\w.]', 'w._'],
  ['[\\d-]', '3-'],
  ['[^\\s?]', 'z/'],
  ['[A-Z]', 'QA'],
  ['[$^|]', '$|'],
  ['[+*(){}]', '+*('],
  ['[!-~]', '~A'],
  ['[^a-z]', '-9A'],
  ['[\\/\\-\\]]', '/-'],
]
const escapes: [string, string][] = [
  ['\\d', '07'],
  ['\\D', 'a/'],
  ['\\w', 'a_9'],
  ['\\W', '-/'],
  ['\\S', 'a/'],
  ['\\/', '/'],
  ['\\-', '-'],
  ['\\.', '.'],
  ['.', 'a-/'],
  ['}', '}'],
  [']', ']'],
]
/** Regular expressions outside the common core, or at its border. */
const foreign: [string, string][] = [
  ['/(?!b)a', '/a'],
  ['/(?=a)a', '/a'],
  ['/(a)\\1', '/aa'],
  ['/(?<n>a)/', '/a/'],
  ['/a++b', '/aab'],
  ['(?i)/static/', '/STATIC/'],
  ['/[[:alpha:]]+', '/abc'],
  ['/\\x61', '/a'],
  ['/a{,2}', '/aa'],
  ['/a{1001}', '/a'],
  ['/(?:a{100}){11}', '/a'],
  ['/\\p{L}', '/p{L}'],
  ['/é', '/é'],
  ['/a\\_b', '/a_b'],
  ['/[\\w-a]', '/-'],
  ['/[a-b-c]', '/-'],
  ['/a{x', '/a{x'],
  ['/\\u0061', '/a'],
  ['/a\\tb', '/a'],
]

/** Escapes a text so that a regular expression matches just that. */
export function escapeRegex(text: string): string {
  return text.replaceAll(/[\\^$.|?*+()[\]{}]/g, '\\$&')
}

/** Draws one that only some dialects understand. */
export function drawForeignRegex(chance: Chance): Sampled {
  const [text, sample] = chance.pick(foreign)
  return { text, sample }
}

/** Draws a sequence of words, classes, groups and quantifiers of the common core. */
export function drawSequence(chance: Chance, depth = 0): Sampled {
  const length = chance.between(1, depth > 0 ? 2 : 5)
  const parts = Array.from({ length }, () => drawPart(chance, depth))
  if (chance.happens(0.04)) parts.splice(chance.between(0, parts.length), 0, drawAnchor(chance))
  return join(parts)
}

function drawAnchor(chance: Chance): Sampled {
  return { text: chance.pick(['^', '$', '\\b', '\\B', '\\b']), sample: '' }
}

function join(parts: Sampled[]): Sampled {
  return {
    text: parts.map(({ text }) => text).join(''),
    sample: parts.map(({ sample }) => sample).join(''),
  }
}

function drawPart(chance: Chance, depth: number): Sampled {
  const kind = chance.draw()
  if (kind < 0.35) return drawWord(chance)
  if (kind < 0.5) return { text: '/', sample: '/' }
  if (kind < 0.75) return quantify(chance, drawCharacter(chance))
  if (depth > 1) return drawWord(chance)
  if (kind > 0.97) return drawNested(chance)
  const group = drawGroup(chance, depth)
  return chance.happens(0.4) ? quantify(chance, group) : group
}

function drawWord(chance: Chance): Sampled {
  const word = chance.pick([...folders, ...stems, ...extensions, ...parameters])
  const plain = { text: escapeRegex(word), sample: word }
  return chance.happens(0.08) ? { text: `\\b${plain.text}\\b`, sample: word } : plain
}

function drawCharacter(chance: Chance): Sampled {
  const [text, members] = chance.pick(chance.happens(0.5) ? classes : escapes)
  return { text, sample: chance.pick(members.split('')) }
}

function drawGroup(chance: Chance, depth: number): Sampled {
  const branches = Array.from({ length: chance.between(1, 3) }, () =>
    drawSequence(chance, depth + 1),
  )
  if (chance.happens(0.08)) branches.push({ text: '', sample: '' })
  const start = chance.happens(0.6) ? '(' : '(?:'
  return {
    text: `${start}${branches.map(({ text }) => text).join('|')})`,
    sample: chance.pick(branches).sample,
  }
}

/** Draws a repetition of a repetition that backtracks little. */
function drawNested(chance: Chance): Sampled {
  const [text, sample] = chance.pick<[string, string]>([
    ['(a*)*b', 'aab'],
    ['(?:/a+)*/', '/a/aa/'],
    ['(?:(?:a|b)*/)+', 'ab//'],
    ['((?:a{1,2}b)?/)*', 'aab//'],
    ['(a?)+?x', 'ax'],
    ['(?:[ab]+-)*c', 'ab-c'],
  ])
  return { text, sample }
}

/** Tests whether a part can be repeated without limit, at little cost in any engine. */
function isPlain(text: string): boolean {
  return !text.startsWith('(') || /^\((?:\?:)?[\w/|]*\)$/.test(text)
}

function quantify(chance: Chance, { text, sample }: Sampled): Sampled {
  const min = chance.between(0, 2)
  const max = min + chance.between(0, 2)
  const bounded: [string, number, number][] = [
    ['', 1, 1],
    ['?', 0, 1],
    [`{${min}}`, min, min],
    [`{${min},${max}}`, min, max],
  ]
  const unbounded: [string, number, number][] = [
    ['*', 0, 2],
    ['+', 1, 3],
    [`{${min},}`, min, max],
  ]
  const [quantifier, least, most] = chance.pick(
    isPlain(text) ? [...bounded, ...unbounded, ...unbounded] : bounded,
  )
  const lazy = quantifier !== '' && chance.happens(0.2) ? '?' : ''
  return { text: text + quantifier + lazy, sample: sample.repeat(chance.between(least, most)) }
}
