import type { Domain } from '../model/item.ts'

/** Domains and writes, with an index of the writes by domain. */
export interface WaveTable {
  domains: Domain[]
  writes: Domain[][]
  /** Indexes of a domain's writes in `writes`. */
  writesByDomain: ReadonlyMap<Domain, number[]>
}

/** Builds the table; `domains` has every domain of the writes. */
export function buildWaveTable(domains: Domain[], writes: Domain[][]): WaveTable {
  const writesByDomain = new Map<Domain, number[]>(domains.map((domain) => [domain, []]))
  for (const [i, write] of writes.entries())
    for (const domain of write) writesByDomain.get(domain)?.push(i)
  return { domains, writes, writesByDomain }
}
