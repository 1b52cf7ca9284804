import { dirname, resolve } from 'node:path'
import { CancelledError, EdgewiseError } from '../../core/model/edgewise-error.ts'
import { formatTime, pluralize } from '../../core/model/text/words.ts'
import { isInside } from '../../files/is-inside.ts'
import {
  approvalEnding,
  describePlan,
  digestPlan,
  keyVariable,
  parsePrivateKey,
  signApproval,
} from '../../operations/people/plan-approval.ts'
import { escapeInvisible } from '../../outlets/report/text/escape-invisible.ts'
import { findCheckout } from '../../state/git/find-repository.ts'
import type { CommandContext } from '../io.ts'
import { loadFile } from '../load-file.ts'
import { createOutput, saveOutput } from '../save-file.ts'

const hourMs = 3_600_000

/** Options of an approval. */
export interface ApproveOptions {
  /** File of the private key; absent: the variable has the key. */
  key?: string
  /** How long it is valid. */
  hours: number
}

/**
 * Shows a saved plan, asks, and signs its digest. The workspace is not needed: what is shown has to
 * equal what the workspace plans when the plan is applied.
 *
 * @throws EdgewiseError `usage`, `stale-plan`, `declined`
 */
export async function approvePlan(
  { io, options }: CommandContext,
  file: string,
  { key, hours }: ApproveOptions,
): Promise<void> {
  const path = resolve(io.cwd, file)
  const folder = findCheckout(dirname(path)) ?? dirname(path)
  const privateKey = loadKey(key, folder, io)
  const text = loadFile(path, `the plan file ${path}`, '', folder)
  const plan = digestPlan(text)
  const lines = describePlan(text)
  if (options.json !== true) io.out(`${lines.join('\n')}\n\n`)
  if (options.yes !== true) {
    if (io.ask === null || options.json === true)
      throw new EdgewiseError('declined', 'cannot prompt for the approval', 'Pass --yes.')
    const isApproved = await io.ask(`Approve this plan for ${pluralize(hours, 'hour')}?`)
    if (!isApproved) throw new CancelledError('Approval cancelled: nothing was signed')
  }
  const now = io.clock.now()
  const expires = new Date(now + hours * hourMs).toISOString()
  const by = escapeInvisible(io.user).slice(0, 200)
  const approval = signApproval({ plan, by, at: new Date(now).toISOString(), expires }, privateKey)
  const output = createOutput(`${path}${approvalEnding}`, { root: folder }, io)
  const json = `${JSON.stringify(approval, null, 2)}\n`
  await saveOutput(output, json)
  io.out(
    options.json === true
      ? json
      : `Approved until ${formatTime(expires)}, in ${output.path}.\nDigest: ${plan}\n`,
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
