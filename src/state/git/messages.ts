import type { Applied } from '../../core/model/applied.ts'
import { listSome, pluralize } from '../../core/model/text/words.ts'
import type { RecordedState, Batch } from '../store/store.ts'

/**
 * Formats the commit message for the start of a batch, or for the end of an apply (`batch` is
 * null).
 */
export function formatEntryMessage(apply: Applied, batch: Batch | null): string {
  const subject = batch === null ? `${apply.outcome}; ${formatCounts(apply)}` : formatIntent(batch)
  return `Apply ${apply.id}: ${subject}\n\n${formatDetails(apply)}`
}

/** Formats the commit message for recorded outcomes of writes. */
export function formatOutcomeMessage(
  apply: Applied,
  writes: number[],
  domains: RecordedState,
): string {
  const subject = writes.length === 0 ? 'a part of a write' : `write ${writes.join(', ')}`
  const names = domains.size === 0 ? '' : `${listSome([...domains.keys()])}\n`
  return `Apply ${apply.id}: outcome of ${subject}\n\n${names}${formatDetails(apply)}`
}

/** Joins the messages of changes that one commit has. The other subjects follow the first. */
export function joinMessages(messages: string[]): string {
  const [first = '', ...others] = messages
  if (others.length === 0) return first
  const [subject = '', ...body] = first.split('\n')
  const subjects = others.map((message) => message.split('\n')[0] ?? '')
  return [`${subject}, and ${others.length} more`, '', ...subjects, ...body].join('\n')
}

function formatCounts({ writes }: Applied): string {
  const { confirmed, refused, inDoubt, notSent } = writes
  const failed = `${refused} refused, ${inDoubt} in-doubt, ${notSent} not sent`
  return `${confirmed} confirmed, ${failed}`
}

function formatIntent({ intents, before }: Batch): string {
  const writes = pluralize(intents.size, 'write')
  return `about to send ${writes} for ${pluralize(before.size, 'domain')}`
}

function formatDetails({ commit, onTopOf, author, startedAt }: Applied): string {
  const tree = onTopOf === undefined ? 'in no commit' : `uncommitted, on top of ${onTopOf}`
  const lines = [
    `Manifests: ${commit ?? tree}`,
    `By: ${author ?? 'unknown'}`,
    `Started: ${startedAt}`,
  ]
  return `${lines.join('\n')}\n`
}
