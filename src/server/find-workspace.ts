import { join } from 'node:path'
import { isInside } from '../files/is-inside.ts'
import { exists } from '../files/look.ts'
import { workspaceFile } from '../manifest/find-root.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { listSome } from '../model/words.ts'
import { escapeInvisible } from '../report/text/escape-invisible.ts'

/**
 * Finds the folder of the workspace in a checkout.
 *
 * @param folder path within the repository; null for the top folder or the only workspace
 * @param files paths of all files of the commit
 * @param commit for messages
 * @throws EdgewiseError `not-a-workspace`
 */
export function findWorkspace(
  checkout: string,
  folder: string | null,
  files: string[],
  commit: string,
): string {
  const found = files
    .filter((path) => path === workspaceFile || path.endsWith(`/${workspaceFile}`))
    .map((path) => path.slice(0, -workspaceFile.length).replace(/\/$/, ''))
  const isClear = folder !== null || found.includes('') || found.length === 1
  const chosen = folder ?? (found.includes('') ? '' : found[0])
  const at = `at commit ${commit.slice(0, 12)}`
  const some = listSome(found.map((each) => escapeInvisible(each || '.')).toSorted(), 5)
  if (chosen === undefined)
    throw new EdgewiseError(
      'not-a-workspace',
      `the repository has no ${workspaceFile} ${at}`,
      'Run "edgewise init" in a clone, commit and push.',
    )
  if (!isClear)
    throw new EdgewiseError(
      'not-a-workspace',
      `the repository has ${found.length} workspaces ${at}`,
      `Choose one with --folder: ${some}.`,
    )
  const path = join(checkout, chosen)
  const file = join(path, workspaceFile)
  // A link in the repository may lead anywhere.
  if (exists(file) && isInside(checkout, path) && isInside(checkout, file)) return path
  throw new EdgewiseError(
    'not-a-workspace',
    `the folder ${escapeInvisible(chosen || '.')} of the repository has no ${workspaceFile} ${at}`,
    found.length === 0
      ? 'Run "edgewise init" in a clone, commit and push.'
      : `Choose another with --folder: ${some}.`,
  )
}
