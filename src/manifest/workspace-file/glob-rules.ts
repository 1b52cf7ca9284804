import { compileDomainGlob, findGlobFault } from '../../core/model/text/domain-glob.ts'
import { findExcess, useFewerGlobs } from '../../core/model/input-limits.ts'
import type { Domain } from '../../core/model/item.ts'
import type { Diagnostic } from '../../core/model/problem.ts'
import { createDiagnostic, type Finding } from '../manifests/finding.ts'
import { createWorkspaceFinding as createFinding } from './workspace-shape.ts'
import type { WorkspaceConfig } from './workspace.ts'
import type { YamlDocument } from '../yaml/yaml-file.ts'

/** Maximum number of globs of files, each of which is matched with every file. */
const maxFileGlobs = 100
/** Maximum number of `*` in a glob of files: an expression goes back for each of them. */
const maxStars = 5

/** Checks globs of files: they stay within the workspace, and matching them takes no long. */
export function checkFileGlobs(pointer: string, globs: string[]): Finding[] {
  if (globs.length > maxFileGlobs)
    return [
      createFinding(
        pointer,
        `expected at most ${maxFileGlobs} globs, got ${globs.length}. Merge them.`,
      ),
    ]
  return globs.flatMap((glob, i) => {
    const fault = findFileGlobFault(glob)
    return fault === null ? [] : [createFinding(`${pointer}/${i}`, fault)]
  })
}

function findFileGlobFault(glob: string): string | null {
  const leaves = /^!?(?:[/\\]|[A-Za-z]:)/.test(glob) || glob.split(/[/\\{},()|]/).includes('..')
  if (leaves)
    return `expected a glob within the workspace, got "${glob}". Remove ".." and a leading "/".`
  const stars = glob.match(/\*+/g)?.length ?? 0
  const isWild = stars > maxStars || /[*+]\(/.test(glob)
  return isWild
    ? `expected a glob with at most ${maxStars} "*", and without "*(" and "+(". Use several globs.`
    : null
}

/** Lists of globs over domain names: the pointer of each list, and of its globs. */
function listDomainGlobs({
  guards,
  rollout,
  drift,
  roles,
}: WorkspaceConfig): { pointer: string; field: string; globs: string[] }[] {
  return [
    {
      pointer: '/guards/protect',
      field: '',
      globs: guards.protect.flat().map((glob) => glob.replace(/^!/, '')),
    },
    { pointer: '/rollout/first', field: '', globs: rollout.first },
    ...roles.map(({ domains }, i) => ({
      pointer: `/roles/${i}/domains`,
      field: '',
      globs: domains.map((glob) => glob.replace(/^!/, '')),
    })),
    { pointer: '/drift/ignore', field: '/domain', globs: drift.ignore.map(({ domain }) => domain) },
  ]
}

/** Checks that the globs over domain names have a form that is matched in linear time. */
export function checkDomainGlobs(config: WorkspaceConfig): Finding[] {
  return listDomainGlobs(config).flatMap(({ pointer, field, globs }) =>
    globs.flatMap((glob, i) => {
      const fault = findGlobFault(glob)
      return fault === null
        ? []
        : [createFinding(`${pointer}/${i}${field}`, `${fault}, got "${glob}"`)]
    }),
  )
}

/** Finds the lists of globs that would be matched with too many domains. */
export function findExcessiveGlobs(
  config: WorkspaceConfig,
  document: YamlDocument,
  domains: number,
): Diagnostic[] {
  return listDomainGlobs(config).flatMap(({ pointer, globs }) => {
    const fault = findExcess(globs, domains)
    if (fault === null) return []
    return [createDiagnostic(document, createFinding(pointer, `${fault}. ${useFewerGlobs}`))]
  })
}

/**
 * Creates a warning for each glob of `guards.protect` and `rollout.first` that matches no domain of
 * the manifests: a misspelled one protects nothing.
 */
export function findUnmatchedGlobs(
  config: WorkspaceConfig,
  document: YamlDocument,
  domains: Iterable<Domain>,
): Diagnostic[] {
  const names = [...domains]
  return listDomainGlobs(config).flatMap(({ pointer, field, globs }) =>
    globs.flatMap((glob, i) => {
      // A glob that ignores drift may be one of domains to come.
      if (field !== '' || glob === '*' || names.some(compileDomainGlob(glob))) return []
      const detail =
        `no manifest declares a domain that matches "${glob}". ` +
        'Correct the glob if it is misspelled.'
      const finding = createFinding(`${pointer}/${i}`, detail)
      const summary = 'This glob matches no domain'
      return [createDiagnostic(document, { ...finding, severity: 'warning', summary })]
    }),
  )
}
