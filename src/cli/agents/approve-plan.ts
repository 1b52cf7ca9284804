import { dirname, resolve } from 'node:path'
import { CancelledError, EdgewiseError } from '../../core/model/edgewise-error.ts'
import { formatTime, pluralize } from '../../core/model/text/words.ts'
import { isInside } from '../../files/is-inside.ts'
import {
  approvalEnding,
  approveFor,
  describePlan,
  digestPlan,
  keyVariable,
  parsePrivateKey,
} from '../../operations/people/plan-approval.ts'
import { findCheckout } from '../../state/git/find-repository.ts'
import type { CommandContext } from '../io.ts'
import { loadFile } from '../load-file.ts'
import { approveAtServer } from './approve-at-server.ts'
import { createOutput, saveOutput } from '../save-file.ts'

/** Options of an approval. */
export interface ApproveOptions {
  /** File of the private key; absent: the variable has the key. */
  key?: string
  /** How long it is valid. */
  hours: number
  /** Address of the server that approves instead of a key. */
  server?: string
}

/**
 * Shows a saved plan, asks, and signs its digest, or lets a server sign it. The workspace is not
 * needed: what is shown has to equal what the workspace plans when the plan is applied.
 *
 * @throws EdgewiseError `usage`, `stale-plan`, `declined`
 */
export async function approvePlan(
  { io, options }: CommandContext,
  file: string,
  { key, hours, server }: ApproveOptions,
): Promise<void> {
  const path = resolve(io.cwd, file)
  const folder = findCheckout(dirname(path)) ?? dirname(path)
  const privateKey = server === undefined ? loadKey(key, folder, io) : null
  const text = loadFile(path, `the plan file ${path}`, '', folder)
  const plan = digestPlan(text)
  const lines = describePlan(text)
  if (options.json !== true) io.out(`${lines.join('\n')}\n\n`)
  if (options.yes !== true) {
    if (io.ask === null || options.json === true)
      throw new EdgewiseError('declined', 'cannot prompt for the approval', 'Pass --yes.')
    const valid = privateKey === null ? '' : ` for ${pluralize(hours, 'hour')}`
    const isApproved = await io.ask(`Approve this plan${valid}?`)
    if (!isApproved) throw new CancelledError('Approval cancelled: nothing was signed')
  }
  const approval =
    privateKey === null
      ? await approveAtServer(server ?? '', { text, digest: plan }, io)
      : approveFor(hours, { plan, by: io.user, now: io.clock.now() }, privateKey)
  const output = createOutput(`${path}${approvalEnding}`, { root: folder }, io)
  const json = `${JSON.stringify(approval, null, 2)}\n`
  await saveOutput(output, json)
  io.out(
    options.json === true
      ? json
      : `Approved until ${formatTime(approval.expires)}, in ${output.path}.\nDigest: ${plan}\n`,
  )
}

function loadKey(
  file: string | undefined,
  folder: string,
  { cwd, env }: CommandContext['io'],
): ReturnType<typeof parsePrivateKey> {
  if (file === undefined) {
    const text = env[keyVariable] ?? ''
    if (text !== '') return parsePrivateKey(text, `the variable ${keyVariable}`)
    throw new EdgewiseError(
      'usage',
      'there is no key to approve with',
      `Pass --key FILE, or set ${keyVariable} to a private Ed25519 key in PEM.`,
    )
  }
  const path = resolve(cwd, file)
  if (isInside(folder, path))
    throw new EdgewiseError(
      'usage',
      `the key ${path} lies beside the manifests, where an assistant may read it`,
      'Keep it elsewhere, best on another machine, and make a new one.',
    )
  return parsePrivateKey(loadFile(path, `the key ${path}`), `the file ${path}`)
}
