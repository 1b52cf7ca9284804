import type { Chance } from '../../simulation/chance.ts'

/** How a configuration signs its URLs. */
export interface Signing {
  layout: number
  format: string
  keys: string[]
  deadtime: number
  style: string
  timeName: string
  keyName: string
}

/** What the rules of a configuration speak about; the request is built from it. */
export interface Clues {
  /** Paths, some with a query, that rules match. */
  targets: string[]
  folders: string[]
  extensions: string[]
  /** Names of query arguments. */
  parameters: string[]
  agents: string[]
  /** Hosts and texts of Referer headers. */
  referers: string[]
  /** Addresses and networks. */
  addresses: string[]
  /** Names of headers that carry the client's address. */
  realIpHeaders: string[]
  /** Names of other headers. */
  headers: string[]
  countries: string[]
  /** Limits of windows, as HH:MM. */
  times: string[]
  /** Limits of uploads in MB. */
  uploads: number[]
  /** Minimum sizes of compressed files, with their unit. */
  sizes: [number, string][]
  contentTypes: string[]
  statuses: number[]
  signings: Signing[]
  /** Values of secrets by name. */
  secrets: Record<string, string>
}

/** What the makers of one pair share. */
export interface Draft {
  chance: Chance
  clues: Clues
  /** The configured domain; `.d` is a wildcard. */
  domain: string
  /** The host of the request, in lower case. */
  host: string
}

/** Creates the draft of a pair without any clue. */
export function createDraft(chance: Chance): Draft {
  const wildcard = chance.happens(0.15)
  const host = chance.pick(['www.example.com', 'a.example.com', 'a.b.example.com'])
  return {
    chance,
    clues: {
      targets: [],
      folders: [],
      extensions: [],
      parameters: [],
      agents: [],
      referers: [],
      addresses: [],
      realIpHeaders: [],
      headers: [],
      countries: [],
      times: [],
      uploads: [],
      sizes: [],
      contentTypes: [],
      statuses: [],
      signings: [],
      secrets: {},
    },
    domain: wildcard ? '.example.com' : 'www.example.com',
    host: wildcard ? host : 'www.example.com',
  }
}

/** Makes a value with this probability. */
export function maybe<T>(chance: Chance, probability: number, make: () => T): T | undefined {
  return chance.happens(probability) ? make() : undefined
}

/** Makes a number of values between two limits. */
export function several<T>(chance: Chance, min: number, max: number, make: () => T): T[] {
  return Array.from({ length: chance.between(min, max) }, make)
}

/** Draws different values of a list, at least one, in any order. */
export function distinct<T>(chance: Chance, list: readonly T[], max: number): T[] {
  const rest = [...list]
  return several(chance, 1, Math.min(max, list.length), () =>
    rest.splice(chance.between(0, rest.length - 1), 1),
  ).flat()
}

/** Picks a clue most of the time, else one of the usual values. */
export function pickClue<T>(chance: Chance, clues: readonly T[], usual: readonly T[]): T {
  return clues.length > 0 && chance.happens(0.75) ? chance.pick(clues) : chance.pick(usual)
}
