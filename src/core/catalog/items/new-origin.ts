import type { NewOrigin } from '../generated/items.ts'
import { isObject, type Json } from '../../model/json.ts'
import type { Problem } from '../../model/problem.ts'
import { castPlain, overwritingList, type ItemRow } from '../item-spec.ts'
import { describeRefusal } from '../problems.ts'
import { canonicalizeAddress, isDomain } from '../value/formats.ts'
import { createFormatProblem } from '../value/schema-problems.ts'

const ports: Record<string, number> = { http: 80, https: 443 }

/** Origins by carrier, level and weight (specification, "new_origin"). */
export const newOrigin: ItemRow = {
  ...overwritingList,
  identity: ['origin', 'isp'],
  check,
  tidy,
}

function check(value: Json): Problem[] {
  const origins = castPlain<NewOrigin>(value)
  const problems: Problem[] = []
  origins.forEach(({ host }, i) => {
    if (host !== undefined && host !== '' && !isDomain(host))
      problems.push(createFormatProblem(`/${i}/host`, 'domain', host))
  })
  const carriers = origins.map((entry) => entry.isp ?? 'default')
  if (carriers.length > 0 && !carriers.includes('default')) {
    problems.push(
      describeRefusal(
        '',
        `there are origins for the carrier "${carriers[0]}" but none for "default". Add an ` +
          'origin for "default".',
      ),
    )
  }
  return problems
}

/**
 * Fills in the port: it follows the protocol if omitted, and is always 0 with protocol `default`.
 */
function tidy(value: Json): Json {
  if (!Array.isArray(value)) return value
  return value.map((entry) => {
    if (!isObject(entry)) return entry
    const host =
      typeof entry['host'] === 'string' ? canonicalizeAddress(entry['host']) : (entry['host'] ?? '')
    const protocol = String(entry['protocol'])
    return {
      ...entry,
      host,
      port: protocol === 'default' ? 0 : (entry['port'] ?? ports[protocol] ?? 0),
    }
  })
}
