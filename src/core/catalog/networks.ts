import { findIpVersion } from './value/ip-version.ts'
import type { Problem } from '../model/problem.ts'
import { warn, describeRefusal } from './problems.ts'
import { parseAddressBits, parseNetwork } from './value/formats.ts'

/**
 * Checks a list of addresses and networks: networks must not overlap; an address inside a network
 * has no effect.
 */
export function checkNetworks(pointer: string, list: string[]): Problem[] {
  const covers = new Map<string, string>()
  const problems: Problem[] = []
  // Wider networks first: if two overlap, the narrower one is inside the wider or equal.
  const networks = list.flatMap((text, i) => {
    const network = parseNetwork(text)
    return network === null ? [] : [{ text, i, network }]
  })
  for (const { text, i, network } of networks.toSorted(
    (a, b) => a.network.prefix - b.network.prefix,
  )) {
    const cover = findCover(network.base, network.prefix, covers)
    if (cover !== undefined) {
      const detail = `the networks ${cover} and ${text} overlap`
      problems.push(describeRefusal(`${pointer}/${i}`, detail, 'overlapping-networks'))
    }
    covers.set(buildKey(network.base, network.prefix), text)
  }
  list.forEach((text, i) => {
    const cover =
      findIpVersion(text) === 4 ? findCover(parseAddressBits(text), 32, covers) : undefined
    if (cover !== undefined)
      problems.push(warn(`${pointer}/${i}`, `${text} is already covered by ${cover}`))
  })
  return problems
}

/** Finds the network among `covers` that contains everything from `base` with this prefix. */
function findCover(
  base: number,
  prefix: number,
  covers: ReadonlyMap<string, string>,
): string | undefined {
  const wider = [8, 16, 24]
    .filter((each) => each <= prefix)
    .map((each) => covers.get(buildKey(base, each)))
  return wider.find((text) => text !== undefined)
}

function buildKey(base: number, prefix: number): string {
  return `${Math.floor(base / 2 ** (32 - prefix))}/${prefix}`
}
