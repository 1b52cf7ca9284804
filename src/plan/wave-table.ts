import type { Domain } from '../model/item.ts'

/** The writes, and where the domains stand in them. */
export interface WaveTable {
  domains: Domain[]
  writes: Domain[][]
  /** The places of a domain's writes in `writes`. */
  writesByDomain: ReadonlyMap<Domain, number[]>
}

/** Builds the table of some writes; every domain is in `domains`. */
export function buildWaveTable(domains: Domain[], writes: Domain[][]): WaveTable {
  const writesByDomain = new Map<Domain, number[]>(domains.map((domain) => [domain, []]))
  for (const [i, write] of writes.entries())
    for (const domain of write) writesByDomain.get(domain)?.push(i)
  return { domains, writes, writesByDomain }
}
