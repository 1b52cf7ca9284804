import ignore from 'ignore'

/** Places of the file in a repository, the first of which counts. */
export const codeOwnersFiles = [
  '.github/CODEOWNERS',
  '.gitlab/CODEOWNERS',
  'CODEOWNERS',
  'docs/CODEOWNERS',
]

/** Most lines of a file that count. */
const maxLines = 10_000

/** Patterns of a section, of which the last one that matches decides. */
type Section = { matches(path: string): boolean; owners: string[] }[]

/**
 * Parses a file `CODEOWNERS`, as GitHub and GitLab read it. Each section has owners of its own.
 *
 * @returns a lookup of the owners of a file, by its path from the top of the repository
 */
export function parseCodeOwners(text: string): (path: string) => string[] {
  const sections: Section[] = [[]]
  let usual: string[] = []
  for (const line of text.split(/\r?\n/, maxLines)) {
    const words = splitLine(line)
    const [first = ''] = words
    if (first.startsWith('[') || first.startsWith('^[')) {
      sections.push([])
      usual = words.filter(isOwner)
    } else if (first !== '' && !first.startsWith('!')) {
      const named = words.slice(1).filter(isOwner)
      const rule = ignore().add(first)
      const owners = named.length === 0 ? usual : named
      sections.at(-1)?.push({ matches: (path) => rule.ignores(path), owners })
    }
  }
  return (path) => [
    ...new Set(
      sections.flatMap((rules) => rules.findLast(({ matches }) => matches(path))?.owners ?? []),
    ),
  ]
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
