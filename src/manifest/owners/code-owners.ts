import { lowerAscii } from '../../core/model/text/lower-ascii.ts'
import ignore from 'ignore'

/** Most lines of a file that count. */
const maxLines = 10_000

/** A pattern of a section, of which the last one that matches decides. */
interface Rule {
  matches(path: string): boolean
  owners: string[]
}

/**
 * Parses a file `CODEOWNERS`, as GitHub and GitLab read it. Each section has owners of its own;
 * those of one name, in any case, are one.
 *
 * @returns a lookup of the owners of a file, by its path from the top of the repository
 */
export function parseCodeOwners(text: string): (path: string) => string[] {
  let section: Rule[] = []
  const sections = new Map([['codeowners', section]])
  let usual: string[] = []
  for (const line of text.split(/\r?\n/, maxLines)) {
    const words = splitLine(line)
    const [first = ''] = words
    const [, heading] = /^\s*\^?\[(.*?)(?:\]|$)/.exec(line) ?? []
    if (heading !== undefined) {
      const name = lowerAscii(heading)
      sections.set(name, (section = sections.get(name) ?? []))
      usual = words.filter(isOwner)
    } else if (first !== '' && !first.startsWith('!')) {
      const named = words.slice(1).filter(isOwner)
      const owners = named.length === 0 ? usual : named
      section.push({ matches: compilePattern(first), owners })
    }
  }
  return (path) => [
    ...new Set(
      [...sections.values()].flatMap(
        (rules) => rules.findLast(({ matches }) => matches(path))?.owners ?? [],
      ),
    ),
  ]
}

/**
 * Compiles a pattern. Paths without its plain texts are excluded first: the expressions of
 * thousands of patterns take minutes, and keep each path that they were asked about.
 */
function compilePattern(pattern: string): Rule['matches'] {
  const rule = ignore({ ignorecase: false }).add(pattern)
  const [plain = '', ...rest] = pattern.split(/[[\]\\]/)
  const texts = [plain, rest.at(-1) ?? ''].flatMap((part) => part.split(/[*?/]+/))
  // A slash that something follows anchors a pattern at the top.
  const start = /\/./.test(pattern) ? (plain.replace(/^\//, '').split(/[*?]/, 1)[0] ?? '') : ''
  return (path) =>
    path.startsWith(start) && texts.every((text) => path.includes(text)) && rule.ignores(path)
}

/** Splits a line into its pattern and names, without the comment. */
function splitLine(line: string): string[] {
  const words: string[] = []
  // A blank after a backslash belongs to the pattern.
  for (const [word] of line.matchAll(/(?:\\.|[^\s\\])+/g)) {
    if (word.startsWith('#')) break
    words.push(word)
  }
  return words
}

function isOwner(word: string): boolean {
  return word.includes('@') && !word.startsWith('@@')
}
