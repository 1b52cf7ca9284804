import { dirname, join, relative } from 'node:path'
import { exists } from '../../files/look.ts'
import type { SourceFile } from './yaml-file.ts'

/** Name of the schema for editors. */
export const schemaName = 'edgewise.schema.json'

/**
 * Finds the schema for editors: in the workspace, or in a folder above it within its git
 * repository, so that several workspaces share one.
 *
 * @returns its path from the workspace, with `/`; null if there is none
 */
export function findSchema(root: string): string | null {
  const folders: string[] = []
  for (let folder = root; ; folder = dirname(folder)) {
    folders.push(folder)
    const isTop = exists(join(folder, '.git'))
    if (!isTop && dirname(folder) !== folder) continue
    // Outside a repository, the folders above belong to others.
    const searched = isTop ? folders : [root]
    const found = searched.find((each) => exists(join(each, schemaName)))
    return found === undefined
      ? null
      : relative(root, join(found, schemaName)).replaceAll('\\', '/')
  }
}

/**
 * Adds the comment by which editors find the schema, as the first line. A file that has such a
 * comment keeps it, whatever it refers to; an empty file stays empty.
 *
 * @param schema path from the workspace
 */
export function addSchemaLine({ path, text }: SourceFile, schema: string): SourceFile {
  if (text.trim() === '' || /^#\s*(?:yaml-language-server\s*:|\$schema:)/m.test(text))
    return { path, text }
  const [lineEnd] = /\r?\n/.exec(text) ?? ['\n']
  const [mark] = /^\uFEFF?/.exec(text) ?? ['']
  const up = '../'.repeat(path.split('/').length - 1)
  const line = `# yaml-language-server: $schema=${up}${schema}${lineEnd}`
  return { path, text: `${mark}${line}${text.slice(mark.length)}` }
}
