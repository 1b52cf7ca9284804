import type { Domain } from '../model/item.ts'
import type { WaveTable } from './wave-table.ts'

/** Exchanges that are tried to let fewer writes be cut. */
const mostTries = 200_000

/**
 * Exchanges two domains of different waves wherever fewer writes are cut then.
 *
 * @param waves domain → wave; it is changed in place
 * @param fixed domains that stay where they are
 */
export function exchangeDomains(
  { writes, writesByDomain }: WaveTable,
  waves: Map<Domain, number>,
  fixed: ReadonlySet<Domain>,
): void {
  const count = writes.map((write) => {
    const byWave = new Map<number, number>()
    for (const domain of write)
      byWave.set(waves.get(domain) ?? 0, (byWave.get(waves.get(domain) ?? 0) ?? 0) + 1)
    return byWave
  })
  const move = (domain: Domain, to: number): number => {
    const from = waves.get(domain) ?? 0
    let gained = 0
    for (const i of writesByDomain.get(domain) ?? []) {
      const byWave = count[i]
      if (byWave === undefined) continue
      const left = (byWave.get(from) ?? 0) - 1
      if (left === 0) {
        byWave.delete(from)
        gained++
      } else byWave.set(from, left)
      const there = byWave.get(to) ?? 0
      if (there === 0) gained--
      byWave.set(to, there + 1)
    }
    waves.set(domain, to)
    return gained
  }
  let tries = 0
  const cut = () => [...writes.keys()].filter((i) => (count[i]?.size ?? 0) > 1)
  for (let better = true; better && tries < mostTries;) {
    better = false
    const loose = [...new Set(cut().flatMap((i) => writes[i] ?? []))].filter(
      (domain) => !fixed.has(domain),
    )
    for (const [i, one] of loose.entries()) {
      for (let j = i + 1; j < loose.length; j++) {
        const other = loose[j] ?? one
        const [here, there] = [waves.get(one) ?? 0, waves.get(other) ?? 0]
        if (here === there) continue
        if (++tries > mostTries) return
        if (move(one, there) + move(other, here) > 0) {
          better = true
          continue
        }
        move(one, here)
        move(other, there)
      }
    }
  }
}
