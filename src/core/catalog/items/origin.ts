import type { Origin } from '../generated/items.ts'
import { isObject, type Json } from '../../model/json.ts'
import type { Problem } from '../../model/problem.ts'
import { castPlain, type ItemRow } from '../item-spec.ts'
import { omitFields, type Observation } from '../observation.ts'
import { describeRefusal } from '../problems.ts'
import { canonicalizeAddress, isAddress } from '../value/formats.ts'
import { splitEntries } from '../value/item-schema.ts'

const maxAddresses = 6

/** Main and backup origin (specification, "origin"). */
export const origin: ItemRow = {
  group: 'combined',
  explainDestructive: (after) =>
    after === null ? 'without it the domain has no origin to fetch content from' : null,
  check,
  tidy,
  observe,
}

function check(value: Json): Problem[] {
  const input = castPlain<Origin>(value)
  const main = splitEntries(input.default_master, ',').map(canonicalizeAddress)
  const backup = splitEntries(input.default_slave ?? '', ',').map(canonicalizeAddress)
  const problems: Problem[] = []
  const addresses = [...main, ...backup].filter(isAddress).length
  if (addresses > maxAddresses) {
    problems.push(
      describeRefusal(
        '',
        `expected at most ${maxAddresses} IP addresses in default_master and default_slave ` +
          `together, got ${addresses}`,
      ),
    )
  }
  for (const shared of new Set(backup.filter((entry) => main.includes(entry)))) {
    problems.push(
      describeRefusal(
        '/default_slave',
        `"${shared}" is also in default_master; main and backup origin must not share an address`,
      ),
    )
  }
  for (const field of ['ori_https', 'port'] as const) {
    if (input[field] !== undefined && input.origin_mode !== 'custom') {
      problems.push(
        describeRefusal(
          `/${field}`,
          `"${field}" may be set only with origin_mode "custom", here it is ` +
            `"${input.origin_mode ?? 'default'}"`,
        ),
      )
    }
  }
  return problems
}

/** Fills in the defaults of `custom`: port 80 and http. */
function tidy(value: Json): Json {
  return isObject(value) && value['origin_mode'] === 'custom'
    ? { port: 80, ori_https: 'no', ...value }
    : value
}

/** A query shows `port` and `ori_https` in every mode; they have a meaning only in `custom`. */
function observe(_known: Json | undefined, observed: Json): Observation {
  const isIdle = isObject(observed) && observed['origin_mode'] !== 'custom'
  const payload = isIdle ? omitFields(observed, ['port', 'ori_https']) : observed
  return { payload }
}
