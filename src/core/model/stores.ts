import type { StateConfig, StoreName } from './config.ts'

/** What the workspace file and the command line say of one kind of store. */
interface StoreRow {
  /** Describes what it is, in the schema of the workspace file. */
  about: string
  /** Keys under `state` that are valid with this store only. */
  keys: string[]
  /** Names a place in it, as `state migrate --to` takes one; and an example of such a place. */
  place: string
  example: string
  /** Reads such a place into the keys under `state`; null if the text names none. */
  readPlace(text: string): Record<string, string> | null
  /** Age from which the last look at a stop of the account is too old to send a call, ms. */
  maxStopAgeMs: number
  /** Tests whether its place is known and in no checkout: several repositories may share it. */
  isElsewhere(state: StateConfig): boolean
}

/** The stores for state. `src/state/stores.ts` opens them. */
export const stores: Record<StoreName, StoreRow> = {
  git: {
    about: 'a branch of the repository',
    keys: ['branch', 'remote'],
    place: 'git:BRANCH',
    example: 'git:edgewise-state',
    readPlace: (text) => readAfter('git:', text, 'branch'),
    maxStopAgeMs: 5000,
    isElsewhere: () => false,
  },
  dir: {
    about: 'a folder',
    keys: ['path'],
    place: 'dir:PATH',
    example: 'dir:.edgewise/state',
    readPlace: (text) => readAfter('dir:', text, 'path'),
    maxStopAgeMs: 1500,
    isElsewhere: () => false,
  },
  postgres: {
    about: 'a schema of a PostgreSQL database',
    keys: ['url', 'schema'],
    place: 'the address of a database',
    example: "'${env:DATABASE_URL}'",
    readPlace: (text) => (/^(?:postgres(?:ql)?:\/\/|\$\{env:)/.test(text) ? { url: text } : null),
    maxStopAgeMs: 1500,
    isElsewhere: ({ database }) => database !== undefined,
  },
}

/** The rows of the stores by name. */
export const storeRows = Object.entries(stores) as [StoreName, StoreRow][]

/** Reads `<start><value>` into a key. */
function readAfter(start: string, text: string, key: string): Record<string, string> | null {
  const value = text.startsWith(start) ? text.slice(start.length) : ''
  return value === '' ? null : { [key]: value }
}
