import type { Origin } from '../generated/items.ts'
import { isObject, type Json } from '../model/json.ts'
import type { Problem } from '../model/problem.ts'
import { castAccepted } from './cast-accepted.ts'
import type { ItemRow } from './item-spec.ts'
import { refuse } from './problems.ts'
import { canonicalizeAddress, isAddress } from './value/formats.ts'
import { splitEntries } from './value/item-schema.ts'

const mostAddresses = 6

/** Main and backup origin (specification, "origin"). */
export const origin: ItemRow = { group: 'combined', check, tidy }

function check(value: Json): Problem[] {
  const given = castAccepted<Origin>(value)
  const main = splitEntries(given.default_master, ',').map(canonicalizeAddress)
  const backup = splitEntries(given.default_slave ?? '', ',').map(canonicalizeAddress)
  const problems: Problem[] = []
  const addresses = [...main, ...backup].filter(isAddress).length
  if (addresses > mostAddresses) {
    problems.push(
      refuse(
        '',
        `expected at most ${mostAddresses} IP addresses in default_master and default_slave together, got ${addresses}`,
      ),
    )
  }
  for (const shared of new Set(backup.filter((entry) => main.includes(entry)))) {
    problems.push(
      refuse(
        '/default_slave',
        `"${shared}" is also in default_master; main and backup origin may share no address`,
      ),
    )
  }
  for (const field of ['ori_https', 'port'] as const) {
    if (given[field] !== undefined && given.origin_mode !== 'custom') {
      problems.push(
        refuse(
          `/${field}`,
          `"${field}" may be set only with origin_mode "custom", here it is "${given.origin_mode ?? 'default'}"`,
        ),
      )
    }
  }
  return problems
}

/** With `custom`, what is left out means port 80 and http. */
function tidy(value: Json): Json {
  return isObject(value) && value['origin_mode'] === 'custom'
    ? { port: 80, ori_https: 'no', ...value }
    : value
}
