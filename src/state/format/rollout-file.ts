import { rolloutFile } from '../../core/model/generated/state-validators.ts'
import type { RolloutFile } from '../../core/model/generated/state-types.ts'
import { compareKeys, groupDomains } from '../../core/model/lists.ts'
import { isUnfinished, type ItemHashes, type Rollout } from '../../core/model/rollout.ts'
import { createDamagedFileError, formatFile, parseFile } from './parse-file.ts'

/** Formats a rollout's file. */
export function formatRollout(rollout: Rollout): string {
  const { values, onHold, unhealthy, ...others } = rollout
  const grouped = { values: groupValues(values), onHold: groupValues(onHold) }
  const marked = unhealthy === undefined ? {} : { unhealthy: groupValues(unhealthy) }
  return formatFile(rolloutFile, { ...others, ...grouped, ...marked }, 1)
}

/** Domains of a wave whose names are kept once its rollout has ended. */
const maxNames = 200

/** Formats the file of an ended rollout: what its page shows. */
export function formatEnded({ unhealthy: _unhealthy, ...rollout }: Rollout): string {
  const waves = rollout.waves.map(({ domains, ...wave }) => ({
    domains: domains.slice(0, maxNames),
    ...(domains.length > maxNames ? { more: domains.length - maxNames } : {}),
    ...wave,
  }))
  const none = { desiredHashes: {}, values: {}, onHold: {}, released: [] }
  return formatRollout({ ...rollout, ...none, waves })
}

/** Parses a rollout's file, as `parseFile` does. */
export function parseRollout(place: string, text: string): Rollout {
  const { unhealthy, ...file } = parseFile(place, text, 'rollout', rolloutFile)
  const rollout = {
    ...file,
    values: ungroup(file.values),
    onHold: ungroup(file.onHold),
    ...(unhealthy === undefined ? {} : { unhealthy: ungroup(unhealthy) }),
  }
  const misplaced = findMisplacedDomain(rollout)
  if (misplaced !== null)
    throw createDamagedFileError(
      place,
      `the domain ${misplaced} is in several waves, in none, or not in this rollout`,
      'rollout',
    )
  return rollout
}

/** Groups domains whose items have the same values, which are often those of a profile. */
function groupValues(values: ItemHashes): RolloutFile['onHold'] {
  const entries = Object.entries(values).map(([domain, items]) => ({
    domain,
    items: Object.fromEntries(Object.entries(items).toSorted(compareKeys)),
  }))
  const groups = groupDomains(entries, ({ items }) => JSON.stringify(items))
  return groups.map(({ first, domains }) => ({ domains, items: first.items }))
}

function ungroup(groups: RolloutFile['onHold']): ItemHashes {
  return Object.fromEntries(
    groups.flatMap(({ domains, items }) => domains.map((domain) => [domain, items])),
  )
}

/**
 * Finds a domain in several waves or in none: it would be sent in the wrong wave, or twice. A
 * rollback by a person has no waves, one of the ended rollouts no hashes.
 */
function findMisplacedDomain(rollout: Rollout): string | null {
  const { desiredHashes, values, waves, released } = rollout
  const left = new Set(Object.keys(desiredHashes))
  if (left.size === 0 && !isUnfinished(rollout)) return null
  const twice = [...waves.flatMap(({ domains }) => domains), ...released].find(
    (domain) => !left.delete(domain),
  )
  const unknown = Object.keys(values).find((domain) => !Object.hasOwn(desiredHashes, domain))
  return twice ?? unknown ?? [...left][0] ?? null
}
