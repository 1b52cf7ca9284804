import { isObject } from '../../core/model/json.ts'
import type { Place } from '../../core/model/problem.ts'
import type { FileMemory } from '../../manifest/manifests/cache/file-memory.ts'
import type { DocumentPlace } from '../../manifest/yaml/yaml-file.ts'
import { findPlace } from '../../manifest/yaml/yaml-place.ts'

/** Where the name of a profile stands: its declaration, or an entry of a list. */
interface Mention {
  name: string
  document: DocumentPlace
  pointer: string
  isDeclaration: boolean
}

/** Lists the mentions of profiles in all valid documents. */
export function listMentions(memory: Pick<FileMemory, 'listDocuments'>): Mention[] {
  return memory.listDocuments().flatMap((document): Mention[] => {
    if ('kind' in document)
      return document.profiles.map(({ name, entry }) => ({
        name,
        document: document.document,
        pointer: `/profiles/${entry}`,
        isDeclaration: false,
      }))
    const { value } = document
    if (!isObject(value)) return []
    const { profile, profiles } = value
    const used = (Array.isArray(profiles) ? profiles : []).flatMap((name, i) =>
      typeof name === 'string'
        ? [{ name, document, pointer: `/profiles/${i}`, isDeclaration: false }]
        : [],
    )
    if (typeof profile !== 'string') return used
    return [{ name: profile, document, pointer: '/profile', isDeclaration: true }, ...used]
  })
}

/** Finds the places of a profile's name: of its declarations, or of all mentions. */
export function findMentions(
  memory: Pick<FileMemory, 'listDocuments'>,
  name: string,
  which: 'declarations' | 'uses' | 'all',
): Place[] {
  return listMentions(memory)
    .filter((each) => each.name === name)
    .filter(({ isDeclaration }) => which === 'all' || isDeclaration === (which === 'declarations'))
    .map(({ document, pointer }) => findPlace(document, pointer))
}

/** Returns the name of the profile at some steps of a document; null elsewhere. */
export function findProfileName(steps: readonly string[], text: string): string | null {
  const [first, second] = steps
  if (first === 'profile' && steps.length === 1) return text
  return first === 'profiles' && second !== undefined && steps.length === 2 ? text : null
}
