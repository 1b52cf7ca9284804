import type { Domain } from '../model/item.ts'
import type { WaveTable } from './wave-table.ts'

/** Maximum number of exchanges to try. */
const maxTries = 200_000

/**
 * Exchanges pairs of domains of different waves while this splits fewer writes.
 *
 * @param waves domain → wave number; changed in place
 * @param fixed domains that must not move
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
      const known = byWave.get(to) ?? 0
      if (known === 0) gained--
      byWave.set(to, known + 1)
    }
    waves.set(domain, to)
    return gained
  }
  let tries = 0
  const listSplitWrites = () => [...writes.keys()].filter((i) => (count[i]?.size ?? 0) > 1)
  for (let better = true; better && tries < maxTries;) {
    better = false
    const loose = [...new Set(listSplitWrites().flatMap((i) => writes[i] ?? []))].filter(
      (domain) => !fixed.has(domain),
    )
    for (const [i, domain] of loose.entries()) {
      for (let j = i + 1; j < loose.length; j++) {
        const other = loose[j] ?? domain
        const [wave, otherWave] = [waves.get(domain) ?? 0, waves.get(other) ?? 0]
        if (wave === otherWave) continue
        if (++tries > maxTries) return
        if (move(domain, otherWave) + move(other, wave) > 0) {
          better = true
          continue
        }
        move(domain, wave)
        move(other, otherWave)
      }
    }
  }
}
