import { compareKeys } from '../../core/model/lists.ts'
import type { TrafficFile } from '../../core/model/generated/state-types.ts'
import { trafficFile } from '../../core/model/generated/state-validators.ts'
import type { TrafficProfile } from '../../core/model/traffic.ts'
import { parseFile } from '../format/parse-file.ts'
import type { StatePaths } from '../format/state-paths.ts'
import type { SharedFiles } from './state-files.ts'

type Figures = Omit<TrafficFile, 'format'>

/** Age at which a figure is dropped, ms: its domain is gone, or nobody counts any more. */
const maxAgeMs = 90 * 86_400_000

/**
 * Loads the recorded figures; none if nothing was recorded.
 *
 * @throws EdgewiseError `record-damaged`
 */
export async function loadFigures(files: SharedFiles, paths: StatePaths): Promise<Figures> {
  const text = (await files.load(paths.trafficFolder)).get(paths.traffic)
  return text === undefined
    ? { account: [], domains: {} }
    : parseFile(files.describePath(paths.traffic), text, 'traffic', trafficFile)
}

/** Picks the newest figures that were queried up to a moment, ms since 1970. */
export function pickProfile({ account, domains }: Figures, asOf = Infinity): TrafficProfile {
  const isKnown = ({ at }: { at: number }) => at <= asOf
  const picked = new Map(
    Object.entries(domains).flatMap(([domain, figures]) => {
      const figure = figures.find(isKnown)
      return figure === undefined ? [] : [[domain, figure] as const]
    }),
  )
  const total = account.find(isKnown)
  let at = total?.at ?? 0
  for (const figure of picked.values()) at = Math.max(at, figure.at)
  return { domains: picked, account: total?.requests ?? null, at }
}

/**
 * Adds a profile to figures. Of each domain the newest figure stays, and the one before it: a saved
 * plan is planned again with the figures that it was made with.
 */
export function addProfile(figures: Figures, { domains, account, at }: TrafficProfile): Figures {
  const merged = new Map(Object.entries(figures.domains))
  for (const [domain, figure] of domains)
    merged.set(domain, keepNewest([figure, ...(merged.get(domain) ?? [])]))
  const kept = [...merged].filter(([, [newest]]) => (newest?.at ?? 0) > at - maxAgeMs)
  const total = account === null ? [] : [{ requests: account, at }]
  return {
    account: keepNewest([...total, ...figures.account]),
    domains: Object.fromEntries(kept.toSorted(compareKeys)),
  }
}

function keepNewest<T extends { at: number }>(figures: T[]): T[] {
  const distinct = figures.filter(({ at }, i) => figures.findIndex((one) => one.at === at) === i)
  return distinct.toSorted((a, b) => b.at - a.at).slice(0, 2)
}

/** Formats the file of figures: one line for each domain. */
export function formatFigures({ account, domains }: Figures): string {
  const lines = Object.entries(domains).map(
    ([domain, figures]) => `\n    ${JSON.stringify(domain)}: ${JSON.stringify(figures)}`,
  )
  return (
    `{\n  "format": "${trafficFile.name}",\n  "account": ${JSON.stringify(account)},\n` +
    `  "domains": {${lines.join(',')}\n  }\n}\n`
  )
}
