import type { Clock } from '../../core/model/time/clock.ts'
import type { Domain } from '../../core/model/item.ts'
import type { Tone } from '../../core/model/page/fleet.ts'
import type { FleetSummary } from '../../outlets/report/live/overview.ts'
import type { ApplyMark } from '../../outlets/report/live/status-codes.ts'
import type { BuiltPage } from './built-page.ts'

/** Content of a page: its title, the tone of its icon, and its HTML. */
interface ServedPage {
  title: string
  tone: Tone
  main: string
}

/** Content of the page of a domain, of which `main` comes after its head. */
export interface ServedDomain extends ServedPage {
  domain: Domain
  head: string
  /** Number of its items that differ at the service; absent for none. */
  drifted?: number
  /** Its applies of some days, first to last. */
  applies: ApplyMark[]
}

/** The list of all domains, with what is left to change as HTML. */
export interface ServedFleet extends ServedPage, FleetSummary {
  changes: string
}

/** The list of all domains, and the page of each. */
export interface DomainPages extends Pick<BuiltPage, 'at' | 'commit' | 'revision' | 'drift'> {
  list: ServedFleet
  /** Returns the page with a name; null if there is none. */
  find(name: string): ServedDomain | null
  /** Names of all pages. */
  names: readonly string[]
}

/** Parses the file of `edgewise report --pages`, of which pages stay text until they are read. */
export function parseDomainPages({ text, ...built }: BuiltPage & { text: string }): DomainPages {
  const start = text.indexOf('\n') + 1
  const { list, pages } = JSON.parse(text.slice(0, start)) as {
    list: ServedFleet
    pages: [name: string, length: number][]
  }
  let end = start
  const places = new Map(
    pages.map(([name, length]) => {
      end += length
      return [name, [end - length, end] as const]
    }),
  )
  return {
    ...built,
    list,
    names: [...places.keys()],
    find: (name) => {
      const place = places.get(name)
      return place === undefined ? null : (JSON.parse(text.slice(...place)) as ServedDomain)
    },
  }
}

/** Wait for new pages before the last ones are shown again, ms. */
const freshMs = 100

/**
 * Creates a source that has the last pages while new ones are made: those of a large fleet take
 * seconds. They have the time when they were made; a failure leaves the last ones.
 */
export function keepLast(
  clock: Pick<Clock, 'sleep'>,
  make: () => Promise<BuiltPage & { text: string }>,
) {
  let from: object | null = null
  let last: DomainPages | null = null
  const load = async (): Promise<DomainPages> => {
    const built = await make()
    if (from === built && last !== null) return last
    from = built
    return (last = parseDomainPages(built))
  }
  return {
    getLast: () => last,
    get: async (): Promise<DomainPages> => {
      const known = last
      const loading = load()
      if (known === null) return loading
      const isOver = new AbortController()
      const shown = clock.sleep(freshMs, isOver.signal).then(() => known)
      const found = loading.catch(() => known)
      return Promise.race([found, shown]).finally(() => isOver.abort())
    },
  }
}
