import { schemaName } from '../yaml/schema-line.ts'
import { workspaceFile } from './find-root.ts'
import type { WorkspaceConfig } from './workspace.ts'

/** Places of the owners' file in a repository, the first of which counts. */
export const codeOwnersFiles = [
  '.github/CODEOWNERS',
  '.gitlab/CODEOWNERS',
  'CODEOWNERS',
  'docs/CODEOWNERS',
]

/** Globs of files in the workspace file. */
export type FileGlobs = Pick<
  WorkspaceConfig,
  'manifests' | 'profiles' | 'policies' | 'requests' | 'tests'
>

/** Kind of a file of a workspace. */
export type FileKind = keyof ReturnType<typeof listFileKinds>

/**
 * Lists the kinds of files that a workspace has, each with its globs: of those that match a file,
 * the first kind counts. All files are below the folder of the workspace, but those of its owners
 * are where the repository has them.
 */
export function listFileKinds({ manifests, profiles, policies, requests, tests }: FileGlobs) {
  return {
    workspace: [workspaceFile],
    tests,
    policies,
    manifests,
    profiles,
    requests,
    schema: [schemaName],
    owners: codeOwnersFiles,
  }
}
