import { applyOutcomes, type Applied } from '../../model/applied.ts'
import { describeTree } from '../../model/source-tree.ts'
import { parseApplyId } from '../../model/group-applies.ts'
import { formatDay } from '../../model/format-time.ts'
import { pluralize } from '../../model/words.ts'
import { formatCounts } from '../apply/text.ts'

/**
 * Formats the summary of a history: how the last apply ended, then all of them.
 *
 * @param applies first to last
 * @param domain the domain whose history it is; null for all
 * @param hasEarlier whether there were earlier applies that are not listed, or may have been
 */
export function formatHistorySentence(
  applies: Applied[],
  domain: string | null,
  hasEarlier: boolean,
): string {
  const [first, last] = [applies[0], applies.at(-1)]
  const of = domain === null ? '' : ` of ${domain}`
  if (first === undefined || last === undefined)
    return domain === null
      ? 'There are no applies yet.'
      : `No apply has written ${domain} as far as is stored.`
  const counts = last.outcome === 'complete' ? '' : formatCounts(last.writes, undefined, 'not sent')
  const { wave } = parseApplyId(last.id)
  const by = last.author === null ? '' : ` by ${last.author}`
  const tree = describeTree(last)
  const newest =
    `The last apply${of} is ${last.outcome}${wave === 0 ? '' : ` (wave ${wave} of a rollout)`}: ` +
    `${formatInstant(last.startedAt)}${by}${tree === null ? '' : `, ${tree}`}` +
    (counts === '' ? '.' : `; writes: ${counts}.`)
  if (applies.length === 1)
    return `${newest} ${hasEarlier ? 'No earlier one is listed.' : 'There is no other one.'}`
  const outcomes = applyOutcomes.flatMap((outcome) => {
    const count = applies.filter((apply) => apply.outcome === outcome).length
    return count === 0 ? [] : [`${count} ${outcome}`]
  })
  const all = `${pluralize(applies.length, 'apply', 'applies')} since ${formatDay(first.startedAt)}`
  return `${newest} ${all}: ${outcomes.join(', ')}.`
}

function formatInstant(iso: string): string {
  const time = /T(\d\d:\d\d)/.exec(iso)?.[1]
  return time === undefined ? iso : `${formatDay(iso)}, ${time} UTC`
}
