import { isIP } from 'node:net'
import type { Problem } from '../model/problem.ts'
import { warn, refuse } from './problems.ts'
import { parseAddressBits, parseNetwork } from './value/formats.ts'

/**
 * Problems of a list of addresses and networks: networks must not overlap; an address inside a
 * network is idle.
 */
export function checkNetworks(pointer: string, list: string[]): Problem[] {
  const taken = new Map<string, string>()
  const problems: Problem[] = []
  // Wider networks first: of two that overlap, the narrower one lies inside the wider or is the
  // same.
  const networks = list.flatMap((text, i) => {
    const network = parseNetwork(text)
    return network === null ? [] : [{ text, i, network }]
  })
  for (const { text, i, network } of networks.toSorted(
    (a, b) => a.network.prefix - b.network.prefix,
  )) {
    const around = coverOf(network.base, network.prefix, taken)
    if (around !== undefined) {
      const detail = `the networks ${around} and ${text} overlap`
      problems.push(refuse(`${pointer}/${i}`, detail, 'overlapping-networks'))
    }
    taken.set(keyOf(network.base, network.prefix), text)
  }
  list.forEach((text, i) => {
    const around = isIP(text) === 4 ? coverOf(parseAddressBits(text), 32, taken) : undefined
    if (around !== undefined)
      problems.push(warn(`${pointer}/${i}`, `${text} is already covered by ${around}`))
  })
  return problems
}

/** The network among `taken` that holds everything from `base` on with this prefix. */
function coverOf(
  base: number,
  prefix: number,
  taken: ReadonlyMap<string, string>,
): string | undefined {
  const wider = [8, 16, 24]
    .filter((each) => each <= prefix)
    .map((each) => taken.get(keyOf(base, each)))
  return wider.find((text) => text !== undefined)
}

function keyOf(base: number, prefix: number): string {
  return `${Math.floor(base / 2 ** (32 - prefix))}/${prefix}`
}
