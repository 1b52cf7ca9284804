import { readdirSync, readFileSync } from 'node:fs'

/** A change of one line of a source; the line is found by its text, so that code may move. */
export interface Mutation {
  /** File below the repository, e.g. `src/core/plan/order.ts`. */
  path: string
  /** Number of the line among those of the file with the same text, from 1. */
  occurrence: number
  /** Texts without indentation. */
  before: string
  after: string
}

const listFile = new URL('list.txt', import.meta.url)
const head =
  '# Mutations of the sources, for "npm run mutations": file and occurrence of a line, the\n' +
  '# line, and what replaces it. Replace by hand what the program reports as gone.\n'

export function loadMutations(): Mutation[] {
  return parseMutations(readFileSync(listFile, 'utf8'))
}

/** @throws Error for a block of another form */
export function parseMutations(text: string): Mutation[] {
  const blocks = text
    .replaceAll(/^#.*\n/gm, '')
    .trim()
    .split(/\n\n+/)
  return blocks.map((block) => {
    const [, path, occurrence, before, after] = /^@ (\S+) (\d+)\n- (.+)\n\+ (.+)$/.exec(block) ?? []
    if (path === undefined || before === undefined || after === undefined)
      throw new Error(`expected a mutation, got:\n${block}`)
    return { path, occurrence: Number(occurrence), before, after }
  })
}

export function formatMutations(mutations: Mutation[]): string {
  return `${head}\n${mutations.map(formatMutation).join('\n\n')}\n`
}

export function formatMutation({ path, occurrence, before, after }: Mutation): string {
  return `@ ${path} ${occurrence}\n- ${before}\n+ ${after}`
}

/** Replaces the line of a mutation; null if the text does not have it so often. */
export function mutate(text: string, { occurrence, before, after }: Mutation): string | null {
  const lines = text.split('\n')
  const same = lines.flatMap((line, i) => (line.trim() === before ? [i] : []))
  const at = same[occurrence - 1]
  if (at === undefined) return null
  return lines
    .with(
      at,
      (lines[at] ?? '').replace(before, () => after),
    )
    .join('\n')
}

/**
 * Finds the file that has the line of a mutation: its own, or the only other one that has it, once;
 * null if there is none.
 */
export function findFile(mutation: Mutation, sources: ReadonlyMap<string, string>): string | null {
  const own = sources.get(mutation.path)
  if (own !== undefined && mutate(own, mutation) !== null) return mutation.path
  const others = [...sources].filter(([, text]) => {
    const { length } = text.split('\n').filter((line) => line.trim() === mutation.before)
    return length === 1
  })
  const [first, ...more] = others
  return first === undefined || more.length > 0 ? null : first[0]
}

/** Loads the sources of a tree that are written by hand, by their paths below it. */
export function loadSources(root: URL): Map<string, string> {
  const paths = readdirSync(new URL('src/', root), { recursive: true, encoding: 'utf8' })
  return new Map(
    paths
      .map((path) => `src/${path.replaceAll('\\', '/')}`)
      .filter((path) => path.endsWith('.ts') && !path.includes('/generated/'))
      .toSorted()
      .map((path) => [path, readFileSync(new URL(path, root), 'utf8')]),
  )
}
