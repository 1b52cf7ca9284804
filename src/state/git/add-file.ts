import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { GitRepository } from './git-repository.ts'
import { fetchSharedTip, rememberSeen } from './shared-tip.ts'

const maxRaces = 8

/**
 * Adds a file on top of the current commit of a branch, whoever made it.
 *
 * @throws EdgewiseError `record-moved` if there is no branch, `state-rewound` if the remote lost
 *   commits, `record-unreachable`
 */
export async function addFile(
  git: GitRepository,
  ref: string,
  file: { path: string; text: string; message: string },
): Promise<void> {
  if (git.remote === null) await git.refuseCheckedOut(ref)
  for (let race = 0; race < maxRaces; race++) {
    const tip = await (git.remote === null ? git.findTip(ref) : fetchSharedTip(git, ref))
    if (tip === null) throw new EdgewiseError('record-moved', `there is no ${ref} any more`)
    const next = await git.commit(tip, new Map([[file.path, file.text]]), file.message)
    const move = git.remote === null ? git.move : git.push
    if (!(await move(ref, tip, next))) continue
    if (git.remote !== null) await rememberSeen(git, ref, tip, next)
    return
  }
  throw new EdgewiseError('record-unreachable', `${ref} moved ${maxRaces} times during the write`)
}
