import { describeValue } from '../../core/catalog/value/schema-problems.ts'
import type { JsonObject } from '../../core/model/json.ts'
import { parseList, type Report } from '../manifests/document-keys.ts'

/** Maximum number of owners of a manifest, and of characters of each. */
const [maxOwners, maxName] = [20, 200]

/** Parses the owners of a manifest: names of groups, and addresses of users. */
export function parseOwners(value: JsonObject, report: Report): string[] {
  const list = parseList(value, 'owners', 'groups and users', report)
  if (list.length > maxOwners)
    report('/owners', `expected at most ${maxOwners} owners, got ${list.length}`)
  const names = list.slice(0, maxOwners)
  return names.flatMap((name, i) => {
    if (typeof name === 'string' && isOwnerName(name)) return [name]
    const expected = `expected the name of a group, or the address of a user`
    report(
      `/owners/${i}`,
      `${expected} (at most ${maxName} characters), got ${describeValue(name)}`,
    )
    return []
  })
}

function isOwnerName(name: string): boolean {
  return name.length <= maxName && name.trim() === name && /^[^\p{Cc}\p{Cf}]+$/u.test(name)
}
