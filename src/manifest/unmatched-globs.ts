import { compileDomainGlob } from '../model/domain-glob.ts'
import type { Domain } from '../model/item.ts'
import type { Diagnostic } from '../model/problem.ts'
import { createDiagnostic } from './finding.ts'
import type { WorkspaceConfig } from './workspace.ts'
import type { YamlDocument } from './yaml-file.ts'

/**
 * Creates a warning for each glob of `guards.protect` and `rollout.first` that matches no domain of
 * the manifests: a misspelled one protects nothing.
 */
export function findUnmatchedGlobs(
  { guards, rollout }: WorkspaceConfig,
  document: YamlDocument,
  domains: Iterable<Domain>,
): Diagnostic[] {
  const names = [...domains]
  const lists = { '/guards/protect': guards.protect, '/rollout/first': rollout.first }
  return Object.entries(lists).flatMap(([list, globs]) =>
    globs.flatMap((glob, i) => {
      const matches = compileDomainGlob(glob.replace(/^!/, ''))
      if (names.some((name) => matches(name))) return []
      return createDiagnostic(document, {
        code: 'workspace-invalid',
        severity: 'warning',
        pointer: `${list}/${i}`,
        summary: 'This glob matches no domain',
        detail:
          `no manifest declares a domain that matches "${glob}". ` +
          'Correct the glob if it is misspelled.',
      })
    }),
  )
}
