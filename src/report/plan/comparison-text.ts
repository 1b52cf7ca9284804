import type { Change } from '../../model/change.ts'
import { listSome, pluralize } from '../../model/words.ts'

/** Formats which conditional changes of a plan differ, now that their secrets are compared. */
export function formatComparison({
  differing,
  same,
}: {
  differing: Change[]
  same: Change[]
}): string {
  const all = differing.length + same.length
  if (differing.length === 0)
    return all === 1 ? 'The compared secret is as recorded.' : `All ${all} secrets are as recorded.`
  const count = `${differing.length} of ${pluralize(all, 'compared secret')}`
  const names = listSome(differing.map(({ domain, item }) => `${item} of ${domain}`))
  return `${count} ${differing.length === 1 ? 'differs' : 'differ'}: ${names}.`
}
