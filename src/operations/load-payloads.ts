import { isAcceleratedDomain } from '../catalog/value/formats.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { groupBy } from '../model/group-by.ts'
import { limitProblems } from '../model/limit-problems.ts'
import { listSome, pluralize } from '../model/words.ts'
import { escapeInvisible } from '../report/text/escape-invisible.ts'
import { buildGitEnvironment } from '../state/git/git-environment.ts'
import { createCommitTest } from '../state/git/open-place.ts'
import type { RecordedState } from '../state/store.ts'
import type { ImportSource } from './import-file.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import type { Outside } from './outside.ts'
import { parseImports, type ParsedImports } from './parse-import.ts'

/**
 * Loads the payloads of import files, and the names of files without any.
 *
 * @param domain domain of an answer that names none
 * @param recorded as for `parseImports`
 * @throws EdgewiseError `usage` with the problems of all files
 */
export function loadPayloads(
  workspace: LoadedWorkspace,
  sources: ImportSource[],
  domain: string | undefined,
  recorded: RecordedState,
): Omit<ParsedImports, 'diagnostics'> {
  if (domain !== undefined && !isAcceleratedDomain(domain.toLowerCase()))
    throw new EdgewiseError('usage', `--domain "${domain}" is not a domain name`)
  const { diagnostics, ...parsed } = parseImports(sources, domain, workspace, recorded)
  if (diagnostics.length === 0) return parsed
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
  const isCommitted = createCommitTest(root, buildGitEnvironment(env, config.service.token))
  const exposed = sources.filter(({ path }) => path !== undefined && isCommitted(path))
  if (exposed.length === 0) return []
  const [are, it] = exposed.length === 1 ? ['is', 'it'] : ['are', 'they']
  const them = exposed.length === 1 ? 'it' : 'them'
  return [
    `${listSome(exposed.map(({ name }) => escapeInvisible(name)))} ${are} in the repository and ` +
      `git does not ignore ${them}, but ${it} may contain secrets. ` +
      `Move ${them} out of the repository or add ${them} to .gitignore.`,
  ]
}

/** Describes the items that were skipped since they can't be imported, equal ones as one. */
export function describeInvalid(
  invalid: ParsedImports['invalid'],
  scrub: (text: string) => string,
): string[] {
  const groups = groupBy(invalid, ({ item, reason }) => `${item}: ${reason}`)
  return [...groups].map(([what, same]) =>
    escapeInvisible(
      scrub(`${what} (${listSome(same.map(({ domain }) => domain))}); it was not imported`),
    ),
  )
}
