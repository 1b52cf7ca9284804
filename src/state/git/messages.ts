import type { Applied } from '../../model/applied.ts'
import { pluralize, listSome } from '../../model/words.ts'
import type { RecordedState, Wave } from '../store.ts'

/** What a record's history says as an apply begins a wave, or ends (`wave` is null then). */
export function formatEntryMessage(apply: Applied, wave: Wave | null): string {
  const { confirmed, refused, inDoubt, notSent } = apply.writes
  const counts = `${confirmed} confirmed, ${refused} refused, ${inDoubt} in doubt, ${notSent} not sent`
  const subject =
    wave === null
      ? `Apply ${apply.id}: ${apply.outcome}; ${counts}`
      : `Apply ${apply.id}: about to send ${pluralize(wave.intents.size, 'write')} for ${pluralize(wave.before.size, 'domain')}`
  return `${subject}\n\n${about(apply)}`
}

/** What it says of writes whose outcome is recorded. */
export function formatOutcomeMessage(
  apply: Applied,
  writes: number[],
  domains: RecordedState,
): string {
  const subject = `Apply ${apply.id}: outcome of ${writes.length === 0 ? 'a part of a write' : `write ${writes.join(', ')}`}`
  return `${subject}\n\n${domains.size === 0 ? '' : `${listSome([...domains.keys()])}\n`}${about(apply)}`
}

function about({ commit, author, startedAt }: Applied): string {
  return `Manifests: ${commit ?? 'in no commit'}\nBy: ${author ?? 'unknown'}\nStarted: ${startedAt}\n`
}
