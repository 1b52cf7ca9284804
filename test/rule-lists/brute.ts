import type { JsonObject } from '../../src/core/model/json.ts'

/** Answers of readings, by name. */
export type Answers = Record<string, string>

/** The readings that rules of `cache_rule` ask for, with the usual answer first. */
const readings = {
  R4: ['search', 'whole'],
  R6: ['sensitive', 'insensitive'],
  R7: ['path', 'path-and-query'],
  R8: ['any', 'segment'],
  R9: ['root', 'never'],
  R10: ['segment', 'prefix'],
  R11: ['recursive', 'direct'],
  R12: ['last-dot', 'ends-with'],
}

/** The usual answers. */
export const usual: Answers = Object.fromEntries(
  Object.entries(readings).map(([name, [answer = '']]) => [name, answer]),
)

/** The usual answers with another one of each reading, by its name. */
export const flips: [string, Answers][] = Object.entries(readings).map(
  ([name, [, answer = '']]) => [name, { ...usual, [name]: answer }],
)

/** Tests whether a rule of `cache_rule` matches a URL, with plain regular expressions. */
export function matches({ type, pattern }: JsonObject, url: string, answers: Answers): boolean {
  const full = url.slice(url.indexOf('/', 8))
  const path = full.split('?')[0] ?? ''
  const subject = answers['R7'] === 'path' ? path : full
  const flags = answers['R6'] === 'insensitive' ? 'i' : ''
  const text = String(pattern)
  if (type === 4) {
    if (text === '.*') return true
    const source = answers['R4'] === 'whole' ? `^(?:${text})$` : text
    return new RegExp(source, flags).test(url)
  }
  return text.split(',').some((entry) => {
    if (type === 1) {
      const file = subject.slice(subject.lastIndexOf('/') + 1)
      const suffix = new RegExp(`\\.${escape(entry.replace(/^\./, ''))}$`, flags)
      const last = file.slice(file.lastIndexOf('.'))
      return file.includes('.') && suffix.test(answers['R12'] === 'last-dot' ? last : file)
    }
    if (!entry.startsWith('/') && answers['R9'] === 'never') return false
    const begin = entry.startsWith('/') ? entry : `/${entry}`
    const star = answers['R8'] === 'any' ? '.*' : '[^/]*'
    const body = begin.split('*').map(escape).join(star)
    if (type === 3) return new RegExp(`^${body}$`, flags).test(subject)
    const end = begin.endsWith('/') || answers['R10'] === 'prefix' ? '' : '/'
    const rest = answers['R11'] === 'recursive' ? '.*' : '[^/]*'
    return new RegExp(`^${body}${end}${rest}$`, flags).test(path)
  })
}

function escape(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
}

/** Every URL over a small alphabet with short paths. */
export function listUrls(): string[] {
  const chars = ['a', 'b', 'A', '/', '.', '?']
  let level = ['https://www.example.com/']
  const found = [...level, 'http://www.example.com/a', 'https://www.example.com:81/a.b']
  for (let length = 0; length < 4; length++) {
    level = level.flatMap((url) => chars.map((char) => url + char))
    found.push(...level)
  }
  return found.filter((url) => !/\/\.{1,2}(?:[/?]|$)|\?$/.test(url))
}
