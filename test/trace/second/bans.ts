import { type Check, readClientAddress, testHeader } from './check.ts'
import { isInEntry } from './ip.ts'
import { nameRule, type Items } from './items.ts'
import {
  isInsensitive,
  lower,
  matchRegex,
  matchText,
  readRegexSubject,
  readText,
} from './matching.ts'
import { all, known, map, not, some, bind, unknown, type Cond } from './result.ts'
import { seen } from './seen.ts'
import { readSubject } from './subjects.ts'
import type { World } from './trace.ts'

type Ban = Items['combined_ban'][number]
type Configs = Ban['configs']

function someEntry(entries: string[], test: (entry: string, i: number) => Cond): Cond {
  return some(...entries.map((entry, i) => () => test(entry, i)))
}

/** Whether a field of a ban means "without regard to case". */
function isBanInsensitive(world: World, field: 'yes' | 'no' = 'yes'): boolean {
  return field === (world.is('R24', 'labels') ? 'no' : 'yes')
}

/** Whether the list or the method of each key matches, without `is_match`. */
const keys: {
  [K in keyof Required<Configs>]: (world: World, value: NonNullable<Configs[K]>, i: number) => Cond
} = {
  method: ({ facts }, { method_type }) =>
    facts.method === undefined
      ? unknown('not-given method')
      : known(facts.method === method_type.toUpperCase()),
  ip: (world, { list }) =>
    someEntry(list, (entry) =>
      bind(readText(world, entry), (text) =>
        map(readClientAddress(world), (address) => isInEntry(address, text)),
      ),
    ),
  referer: (world, { list }) =>
    someEntry(list, (entry) => matchHeader(world, 'referer', entry, true)),
  url: (world, { list, case_insensitive }, i) => {
    const ci = isBanInsensitive(world, case_insensitive)
    return someEntry(list, (entry, j) => {
      const where = `combined_ban/${i}/configs/url/list/${j}`
      return bind(readText(world, entry), (pattern) =>
        matchRegex(
          world,
          { pattern, ci, where, extent: 'search' },
          readRegexSubject(world, seen, where),
        ),
      )
    })
  },
  ua: (world, { list, case_insensitive }) => {
    const ci = isBanInsensitive(world, case_insensitive)
    return someEntry(list, (entry) => matchHeader(world, 'user-agent', entry, ci))
  },
}

function matchHeader(world: World, name: string, entry: unknown, ci: boolean): Cond {
  return bind(readText(world, entry), (wanted) =>
    testHeader(world, name, (text) => known(matchText(world, wanted, text, ci))),
  )
}

function holdsKey<K extends keyof Configs>(
  world: World,
  key: K,
  configs: Configs,
  i: number,
): Cond | null {
  const value = configs[key]
  if (value === undefined) return null
  const holds = keys[key](world, value, i)
  return value.is_match === 'no' ? not(holds) : holds
}

function holdsBan(world: World, { configs }: Ban, i: number): Cond {
  const conditions = (['method', 'ip', 'referer', 'url', 'ua'] as const)
    .filter((key) => configs[key] !== undefined)
    .map((key) => () => holdsKey(world, key, configs, i) ?? known(true))
  return world.is('R23', 'any') ? some(...conditions) : all(...conditions)
}

export const combinedBan: Check<'combined_ban'> = {
  entries: (bans) =>
    bans.map((ban, i) => ({
      rule: nameRule('combined_ban', `/${i}`),
      holds: (world) => holdsBan(world, ban, i),
    })),
}

function holdsUrl(world: World, entry: unknown, i: number): Cond {
  const where = `deny_url/urls/${i}`
  const ci = isInsensitive(world)
  return bind(readText(world, entry), (pattern) => {
    const subject = readSubject(world, seen, 'whole-url', `undecidable ${where}`)
    const matches = (): Cond => matchRegex(world, { pattern, ci, where, extent: 'R4' }, subject)
    if (world.is('R27', 'regex')) return matches()
    return some(
      () => map(subject, (text) => (ci ? lower(text) === lower(pattern) : text === pattern)),
      matches,
    )
  })
}

export const denyUrl: Check<'deny_url'> = {
  entries: ({ urls }) =>
    urls.map((entry, i) => ({
      rule: nameRule('deny_url', `/urls/${i}`, entry),
      holds: (world) => holdsUrl(world, entry, i),
    })),
}
