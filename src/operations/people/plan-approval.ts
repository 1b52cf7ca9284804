import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { ApprovalFile } from '../../core/model/generated/state-types.ts'
import { approvalFile } from '../../core/model/generated/state-validators.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { parseJson } from '../../core/model/json.ts'
import { checkStored } from '../../core/model/text/stored-file.ts'
import { formatTime, pluralize } from '../../core/model/text/words.ts'
import { parseSavedPlan } from '../../core/plan/saved-plan.ts'
import type { HistoryReader } from '../../state/store/store.ts'
import { escapeInvisible } from '../../outlets/report/text/escape-invisible.ts'

const hourMs = 3_600_000
/** Maximum length of the name of who approves. */
const maxName = 200

/** Variable with the key of who approves. */
export const keyVariable = 'EDGEWISE_APPROVAL_KEY'
/** Ending of the file with the approval, after the name of the plan file. */
export const approvalEnding = '.approved'

/** Hours for which an approval is valid by default. */
export const approvalHours = 24

/** Builds the mark of an approved plan, with which the author of its apply ends. */
export function markApproved(digest: string): string {
  return `(approved plan ${digest})`
}

/** Computes the digest that is approved: SHA-256 of the plan file, as hex digits. */
export function digestPlan(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/**
 * Describes a plan file by its changes, each whole and on a line.
 *
 * @throws EdgewiseError `stale-plan` if it can't be used
 */
export function describePlan(text: string): string[] {
  const { reviewed, writes, desired } = parseSavedPlan(parseJson(text))
  const calls = pluralize(Array.isArray(writes) ? writes.length : 0, 'write')
  const domains = pluralize(Object.keys(desired).length, 'domain')
  const changes = [...reviewed.values()].map(({ action, item, domain, before, after }) => {
    const values = `${JSON.stringify(before)} → ${JSON.stringify(after)}`
    return escapeInvisible(`  ${action} ${item} of ${domain}: ${values}`)
  })
  return [`${pluralize(changes.length, 'change')} of ${domains} · ${calls}`, '', ...changes]
}

/**
 * Signs an approval with an Ed25519 key.
 *
 * @param now time, ms
 */
export function approveFor(
  hours: number,
  { plan, by, now }: { plan: string; by: string; now: number },
  key: KeyObject,
): ApprovalFile {
  const expires = new Date(now + hours * hourMs).toISOString()
  const name = escapeInvisible(by).slice(0, maxName)
  return signApproval({ plan, by: name, at: new Date(now).toISOString(), expires }, key)
}

/**
 * Refuses a plan that was applied before, as after a rollback it would fit again.
 *
 * @throws EdgewiseError `not-allowed`
 */
export async function refuseUsed(
  store: Pick<HistoryReader, 'listPruned' | 'listApplies'>,
  digest: string,
): Promise<void> {
  const applies = [...(await store.listPruned()).applies, ...(await store.listApplies())]
  const mark = markApproved(digest)
  const earlier = applies.find(({ author }) => author?.endsWith(mark) === true)
  if (earlier !== undefined) throw createRefusal(`the approval was used by apply ${earlier.id}`)
}

/** Signs an approval with an Ed25519 key. */
function signApproval(
  approval: Pick<ApprovalFile, 'plan' | 'by' | 'at' | 'expires'>,
  key: KeyObject,
): ApprovalFile {
  const unsigned = { format: 'edgewise.approval/1', ...approval, signature: '' } as const
  const signature = sign(null, buildSigned(unsigned), key).toString('base64')
  return { ...unsigned, signature }
}

/**
 * Checks the approval of a plan.
 *
 * @param text content of the file beside the plan file
 * @param keys one of which has to have signed it
 * @param now time, ms
 * @returns who approved it
 * @throws EdgewiseError `not-allowed`
 */
export function checkApproval(text: string, plan: string, keys: KeyObject[], now: number): string {
  const checked = checkStored(parseJson(text), approvalFile)
  if ('fault' in checked) throw createRefusal(`the approval can't be used: ${checked.fault}`)
  const { value } = checked
  const signature = Buffer.from(value.signature, 'base64')
  if (!keys.some((key) => verify(null, buildSigned(value), key, signature)))
    throw createRefusal('the approval is not signed with a key of --approver')
  if (value.plan !== plan) throw createRefusal('the approval is for another plan')
  if (!(Date.parse(value.expires) > now))
    throw createRefusal(`the approval has ended: it was valid until ${formatTime(value.expires)}`)
  return value.by
}

function buildSigned({ format, plan, by, at, expires }: ApprovalFile): Buffer {
  return Buffer.from([format, plan, by, at, expires].map((line) => `${line}\n`).join(''))
}

/** Creates the error of a plan that nobody has approved so. */
export function createRefusal(reason: string): EdgewiseError {
  return new EdgewiseError(
    'not-allowed',
    `${reason}; nothing was sent`,
    'A person runs "edgewise plan approve FILE" with a new plan, or "edgewise apply".',
  )
}

/** @throws EdgewiseError `usage` for anything but a private Ed25519 key in PEM */
export function parsePrivateKey(text: string, called: string): KeyObject {
  return parseKey(() => createPrivateKey(text), `${called} has no private Ed25519 key in PEM`)
}

/**
 * Parses the public keys of who may approve, one after another.
 *
 * @throws EdgewiseError `usage` for anything but public Ed25519 keys in PEM
 */
export function parsePublicKeys(text: string, called: string): KeyObject[] {
  const blocks = text.match(/-----BEGIN PUBLIC KEY-----[^-]{1,500}-----END PUBLIC KEY-----/g) ?? []
  const message = `${called} has no public Ed25519 key in PEM, or something else`
  // A private key would give its public one.
  if (blocks.length === 0 || hasPrivateKey(text)) throw createKeyError(message)
  return blocks.map((block) => parseKey(() => createPublicKey(block), message))
}

/** Tests whether a text has a private key in PEM. */
export function hasPrivateKey(text: string): boolean {
  return /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----/.test(text)
}

function parseKey(parse: () => KeyObject, message: string): KeyObject {
  let key: KeyObject | null
  try {
    key = parse()
  } catch (error) {
    // OpenSSL's reason may quote the text.
    if (!(error instanceof Error)) throw error
    key = null
  }
  if (key?.asymmetricKeyType !== 'ed25519') throw createKeyError(message)
  return key
}

function createKeyError(message: string): EdgewiseError {
  return new EdgewiseError(
    'usage',
    message,
    'The guide "Write manifests with an assistant" makes one.',
  )
}
