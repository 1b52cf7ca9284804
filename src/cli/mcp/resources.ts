import { catalogue } from '../../core/catalog/catalogue.ts'
import { extractFirstSentence } from '../../outlets/report/catalog/describe-item.ts'
import { readPackageFile } from '../package-files.ts'
import { pageCharacters } from './answers.ts'

/** A text of this package that agents can load. */
export interface Resource {
  uri: string
  name: string
  description: string
  mimeType: string
}

/** Schemas of files that people write. */
const schemas: [name: string, path: string, description: string][] = [
  ['edgewise', 'schemas/edgewise.schema.json', 'JSON Schema of manifests and profiles'],
  ['workspace', 'schemas/workspace.schema.json', 'JSON Schema of edgewise.yaml'],
  ['policy', 'schemas/policy.schema.json', 'JSON Schema of policies'],
]

/** Lists all resources: schemas, guides, items. */
export function listResources(): Resource[] {
  return [
    ...schemas.map(([name, , description]) => ({
      uri: `edgewise://schemas/${name}`,
      name: `schema ${name}`,
      description,
      mimeType: 'application/schema+json',
    })),
    ...listGuides().map(({ name, title, description }) => ({
      uri: `edgewise://guides/${name}`,
      name: title,
      description,
      mimeType: 'text/markdown',
    })),
    ...[...catalogue].map(([key, spec]) => ({
      uri: `edgewise://items/${key}`,
      name: `item ${key}`,
      description: extractFirstSentence(spec),
      mimeType: 'text/markdown',
    })),
  ]
}

/** Lists the guides as the index of the documentation does. */
function listGuides(): { name: string; title: string; description: string }[] {
  const index = readPackageFile('docs/README.md')
  const rows = index.matchAll(/^- \[([^\]]+)\]\(guides\/([a-z-]+)\.md\): (.+)$/gm)
  return [...rows].map(([, title = '', name = '', description = '']) => ({
    name,
    title,
    description,
  }))
}

/** Loads a resource, or a part of a long one: `?from=N` begins at a character. Null for none. */
export function loadResource(uri: string): { mimeType: string; text: string } | null {
  const [, base = '', from = '0'] = /^([^?]{1,200})(?:\?from=(\d{1,8}))?$/.exec(uri) ?? []
  const found = listResources().find((each) => each.uri === base)
  if (found === undefined) return null
  const text = readPackageFile(findPath(base))
  const [start, end] = [Number(from), Number(from) + pageCharacters]
  const part = text.slice(start, end)
  if (start === 0 && end >= text.length) return { mimeType: found.mimeType, text: part }
  const more = end < text.length ? `; the next part is ${base}?from=${end}` : ''
  const about = `[characters ${start} to ${Math.min(end, text.length)} of ${text.length}${more}]`
  return { mimeType: 'text/plain', text: `${about}\n${part}` }
}

function findPath(uri: string): string {
  const [kind = '', name = ''] = uri.replace('edgewise://', '').split('/')
  if (kind === 'guides') return `docs/guides/${name}.md`
  if (kind === 'items') return `docs/reference/items/${name}.md`
  return schemas.find(([each]) => each === name)?.[1] ?? ''
}
