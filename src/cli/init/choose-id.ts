import { basename, join, relative, sep } from 'node:path'
import { createLister } from '../../files/list-below.ts'
import { maxListed } from '../../files/list-names.ts'
import { findRealPath } from '../../files/look.ts'
import { workspaceFile } from '../../manifest/workspace-file/find-root.ts'
import { throwDefect } from '../../core/model/edgewise-error.ts'
import { escapeInvisible } from '../../outlets/report/text/escape-invisible.ts'
import { buildPlainName } from '../../state/format/state-paths.ts'
import { splitLines } from '../../state/git/git-command.ts'
import { buildGitEnvironment } from '../../state/git/git-environment.ts'
import { openPlace } from '../../state/git/open-place.ts'
import { loadContent } from './find-placement.ts'

type Environment = Record<string, string | undefined>

/** Id of a new workspace, and the reason if it is not the usual one. */
export interface ChosenId {
  id: string
  reason: string | null
}

const usual = 'default'

/** Refs of the usual state branch: of this clone, as last fetched by Edgewise, and by git. */
const stateRefs = [
  'refs/heads/edgewise-state',
  'refs/edgewise/fetched/origin/heads/edgewise-state',
  'refs/remotes/origin/edgewise-state',
]

/**
 * Chooses an id that no other workspace of the repository has: state is kept by id, so two with
 * the same one would release each other's items.
 *
 * @param root folder of the new workspace, which need not exist
 * @param top top folder of its repository; null without one
 */
export async function chooseId(
  root: string,
  top: string | null,
  env: Environment,
): Promise<ChosenId> {
  if (top === null) return { id: usual, reason: null }
  const users = new Map(await listRecorded(top, env))
  let cut: string | null = null
  const onCut = () => {
    const count = maxListed.toLocaleString('en')
    cut = `only the first ${count} files were searched for other workspaces`
  }
  for (const [id, path] of listWorkspaces(findRealPath(top), onCut)) users.set(id, path)
  const user = users.get(usual)
  if (user === undefined) return { id: usual, reason: cut }
  const words = basename(root).split(/[^A-Za-z0-9_]/)
  const named = words
    .filter((word) => word !== '')
    .join('-')
    .slice(0, 60)
  const base = named === '' ? 'workspace' : named
  let id = base
  for (let number = 2; users.has(buildPlainName(id)); number++) id = `${base}-${number}`
  return { id, reason: `"${usual}" is that of ${escapeInvisible(user)}` }
}

/**
 * Lists the workspaces below a folder by the name of their state, tracked by git or not.
 *
 * @param onCut called if there are too many files to look at all of them
 */
function listWorkspaces(top: string, onCut: () => void): [string, string][] {
  const found: [string, string][] = []
  const list = createLister(top, ({ kind }) => {
    if (kind === 'too-many') onCut()
  })
  const search = (folder: string) => {
    for (const entry of list(folder)) {
      const path = join(folder, entry.name)
      if (entry.name === workspaceFile && entry.isFile()) {
        const { id = usual } = loadContent(folder)
        const name = relative(top, path).replaceAll(sep, '/')
        if (typeof id === 'string') found.push([buildPlainName(id), name])
      }
      if (entry.isDirectory() && !skipped.has(entry.name)) search(path)
    }
  }
  search(top)
  return found
}

const skipped = new Set(['.git', '.edgewise', 'node_modules'])

/** Lists what the usual state branch has, as this clone knows it: the names of its workspaces. */
async function listRecorded(top: string, env: Environment): Promise<[string, string][]> {
  const gitEnv = buildGitEnvironment(env, env['EDGEWISE_TOKEN'] ?? '')
  try {
    const place = openPlace(top, gitEnv)
    if (place === null) return []
    const { createLibraryGit } = await import('../../state/git/library-git.ts')
    const git = createLibraryGit(place, gitEnv)
    const listed = await Promise.all(
      stateRefs.map((ref) => git(['ls-tree', '-d', '--name-only', ref])),
    )
    return listed.flatMap(({ code, out }) =>
      code === 0 ? splitLines(out).map((id): [string, string] => [id, 'recorded state']) : [],
    )
  } catch (error) {
    // Without git, or in the repository of another user, only the files count.
    throwDefect(error)
    return []
  }
}
