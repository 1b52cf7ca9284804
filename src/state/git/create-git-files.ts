import type { Disk } from '../folder/disk.ts'
import type { StateFiles } from '../state-files.ts'
import { addFile } from './add-file.ts'
import { GitFiles } from './git-files.ts'
import type { GitRepository } from './git-repository.ts'
import { buildBranchRef, readCommit, type GitLocation } from './git-view.ts'

/**
 * Creates the state files of a branch. `write` commits in this repository, `record` adds to
 * what the next commit has; `publish` and `share` push to the remote too.
 */
export function createGitFiles(
  repository: GitRepository,
  place: GitLocation,
  disk: Disk,
  temporary: string,
): StateFiles {
  const files = new GitFiles(repository, place, disk, temporary)
  return {
    location: files.location,
    describePath: readCommit(repository, place, null).describePath,
    refresh: () => files.refresh(),
    listTopFolders: async () => (await files.readTip()).listTopFolders(),
    listPaths: async (path) => (await files.readTip()).listPaths(path),
    load: async (path) => (await files.readTip()).load(path),
    loadFolders: async (paths) =>
      (await (await files.readTip()).loadFolders?.(paths)) ?? new Map<string, string>(),
    write: (steps, message) => files.write(steps, message),
    record: (steps, message) => files.record(steps, message),
    publish: (steps, message, guard) => files.publish(steps, message, guard),
    saveLocally: (path, text) => files.saveLocally(path, text),
    loadLocalAndShared: (path) => files.loadLocalAndShared(path),
    add: (path, text, message) =>
      addFile(repository, buildBranchRef(place), { path, text, message }),
    listDropped: () => files.listDropped(),
    listUnshared: () => files.listUnshared(),
    share: repository.remote === null ? null : () => files.share(),
  }
}
