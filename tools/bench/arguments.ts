import { parseArgs } from 'node:util'

export interface BenchOptions {
  small: boolean
  keep: boolean
  scale: boolean
  node24: string | null
  /** A file, `-` for stdout, or null for no JSON. */
  json: string | null
  /** Names of the groups to measure. */
  only: string[]
}

/** @throws Error for unknown options, groups, and options that don't go together */
export function parseBenchArgs(args: string[], groups: string[]): BenchOptions {
  // `--json` may stand alone.
  const bare = args.map((arg, i) =>
    arg === '--json' && (args[i + 1] ?? '--').startsWith('--') ? '--json=-' : arg,
  )
  const { values } = parseArgs({
    args: bare,
    options: {
      small: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      scale: { type: 'boolean', default: false },
      node24: { type: 'string' },
      json: { type: 'string' },
      only: { type: 'string' },
    },
  })
  const only = values.only?.split(',') ?? groups
  const unknown = only.find((name) => !groups.includes(name))
  if (unknown !== undefined)
    throw new Error(`expected groups of ${groups.join(', ')}, got ${unknown}`)
  if (values.keep && !values.small) throw new Error('--keep needs --small')
  const { small, keep, scale, node24 = null, json = null } = values
  return { small, keep, scale, node24, json, only }
}
