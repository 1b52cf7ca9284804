import { isDomain } from '../catalog/value/formats.ts'
import { isInCheckout } from '../manifest/secret-sources.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { limitProblems } from '../model/limit-problems.ts'
import { listSome, pluralize } from '../model/words.ts'
import { escapeInvisible } from '../report/text/escape-invisible.ts'
import type { ImportSource } from './import-file.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import type { Outside } from './outside.ts'
import { parseImports, type ParsedPayload } from './parse-import.ts'

/**
 * Loads the payloads of import files, and the names of files without any.
 *
 * @param domain domain of an answer that names none
 * @throws EdgewiseError `usage` with the problems of all files
 */
export function loadPayloads(
  workspace: LoadedWorkspace,
  sources: ImportSource[],
  domain?: string,
): { payloads: ParsedPayload[]; empty: string[] } {
  if (domain !== undefined && !isDomain(domain.toLowerCase()))
    throw new EdgewiseError('usage', `--domain "${domain}" is not a domain name`)
  const { payloads, empty, diagnostics } = parseImports(sources, domain, workspace)
  if (diagnostics.length === 0) return { payloads, empty }
  const listed = limitProblems(diagnostics)
  const files = [...new Set(diagnostics.map(({ file }) => file))]
  throw new EdgewiseError(
    'usage',
    `${listSome(files)} can't be imported: ${pluralize(diagnostics.length, 'problem')}; ` +
      'nothing was recorded',
    'Expected {"<domain>": {"<item>": payload}}, or an answer of the service.',
    listed,
  )
}

/** Warns of files that may hold secrets, and that git would add to the repository. */
export function listExposedFiles(
  { root, config }: LoadedWorkspace,
  sources: ImportSource[],
  { env }: Outside,
): string[] {
  const exposed = sources.filter(
    ({ path }) => path !== undefined && isInCheckout(root, path, env, config.service.token),
  )
  if (exposed.length === 0) return []
  const [are, it] = exposed.length === 1 ? ['is', 'it'] : ['are', 'they']
  const them = exposed.length === 1 ? 'it' : 'them'
  return [
    `${listSome(exposed.map(({ name }) => escapeInvisible(name)))} ${are} in the repository and ` +
      `git does not ignore ${them}, but ${it} may contain secrets. ` +
      `Move ${them} out of the repository or add ${them} to .gitignore.`,
  ]
}
