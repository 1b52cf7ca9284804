import type { JsonObject } from '../../src/core/model/json.ts'

/** Answers of readings, by name. */
export type Answers = Record<string, string>

/** Tests whether a rule of `cache_rule` matches a URL, with plain regular expressions. */
export function matches({ type, pattern }: JsonObject, url: string, answers: Answers): boolean {
  const full = url.slice(url.indexOf('/', 8))
  const path = full.split('?')[0] ?? ''
  const flags = answers['R6'] === 'insensitive' ? 'i' : ''
  const text = String(pattern)
  if (type === 4) {
    if (text === '.*') return true
    const source = answers['R4'] === 'whole' ? `^(?:${text})$` : text
    return new RegExp(source, flags).test(url)
  }
  return text.split(',').some((entry) => {
    if (type === 1) {
      const file = path.slice(path.lastIndexOf('/') + 1)
      const suffix = new RegExp(`\\.${escape(entry.replace(/^\./, ''))}$`, flags)
      const last = file.slice(file.lastIndexOf('.'))
      return file.includes('.') && suffix.test(answers['R12'] === 'last-dot' ? last : file)
    }
    if (!entry.startsWith('/') && answers['R9'] === 'never') return false
    const begin = entry.startsWith('/') ? entry : `/${entry}`
    const star = answers['R8'] === 'any' ? '.*' : '[^/]*'
    const body = begin.split('*').map(escape).join(star)
    if (type === 3) return new RegExp(`^${body}$`, flags).test(path)
    const end = begin.endsWith('/') || answers['R10'] === 'prefix' ? '' : '/'
    return new RegExp(`^${body}${end}`, flags).test(path)
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

/** Every combination of answers of the readings that rules of `cache_rule` ask for. */
export function listWorlds(): Answers[] {
  const open = {
    R4: ['search', 'whole'],
    R6: ['sensitive', 'insensitive'],
    R8: ['any', 'segment'],
    R9: ['root', 'never'],
    R10: ['segment', 'prefix'],
    R12: ['last-dot', 'ends-with'],
  }
  return Object.entries(open).reduce<Answers[]>(
    (worlds, [name, answers]) =>
      worlds.flatMap((world) => answers.map((answer) => ({ ...world, [name]: answer }))),
    [{}],
  )
}
