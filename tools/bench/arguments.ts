import { parseArgs } from 'node:util'

export interface BenchOptions {
  small: boolean
  keep: boolean
  scale: boolean
  /** A file, `-` for stdout, or null for no JSON. */
  json: string | null
  /** Names of the groups to measure. */
  only: string[]
  /** Of `fleets`: new mixes of so many domains, without the slow greedy search, in waves. */
  unseen: number[]
  skipGreedy: boolean
  waves: boolean
  /** Of `health` and `rollout`; null for the usual number. */
  rollouts: number | null
  /** Of `idle`, `pages`, `peers` and `rollout`. */
  domains: number | null
}

const flag = { type: 'boolean', default: false } as const
const text = { type: 'string' } as const

/**
 * Parses the options of the benchmark. Without `--only` it measures the groups, not the studies.
 *
 * @throws Error for unknown options, groups, and options that don't go together
 */
export function parseBenchArgs(
  args: string[],
  groups: string[],
  studies: string[] = [],
): BenchOptions {
  // `--json` may stand alone.
  const bare = args.map((arg, i) =>
    arg === '--json' && (args[i + 1] ?? '--').startsWith('--') ? '--json=-' : arg,
  )
  const { values } = parseArgs({
    args: bare,
    options: {
      small: flag,
      keep: flag,
      scale: flag,
      json: text,
      only: text,
      unseen: text,
      'skip-greedy': flag,
      waves: flag,
      rollouts: text,
      domains: text,
    },
  })
  const { json = null, ...given } = values
  const only = given.only?.split(',') ?? groups
  const known = [...groups, ...studies]
  const unknown = only.find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new Error(`expected groups of ${known.join(', ')}, got ${unknown}`)
  if (given.keep && !given.small) throw new Error('--keep needs --small')
  return {
    ...given,
    json,
    only,
    unseen: given.unseen?.split(',').map((each) => parseNumber('unseen', each)) ?? [],
    skipGreedy: given['skip-greedy'],
    rollouts: given.rollouts === undefined ? null : parseNumber('rollouts', given.rollouts),
    domains: given.domains === undefined ? null : parseNumber('domains', given.domains),
  }
}

function parseNumber(name: string, value: string): number {
  const number = Number(value)
  if (Number.isInteger(number) && number > 0) return number
  throw new Error(`expected --${name} to be a whole number from 1, got "${value}"`)
}
