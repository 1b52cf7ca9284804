import type { Problem } from '../model/problem.ts'
import { doubtful, refused } from './problems.ts'
import { contains, overlap, readNetwork } from './value/formats.ts'

/** Problems of a list of addresses and networks: networks must not overlap; an address inside a network is idle. */
export function networkProblems(pointer: string, list: string[]): Problem[] {
  const networks = list.flatMap((text, i) => {
    const network = readNetwork(text)
    return network === null ? [] : [{ text, i, network }]
  })
  const problems: Problem[] = []
  networks.forEach((later, n) => {
    const earlier = networks.slice(0, n).find((other) => overlap(other.network, later.network))
    if (earlier !== undefined) {
      problems.push(refused(`${pointer}/${later.i}`, `the networks ${earlier.text} and ${later.text} overlap`, 'Networks overlap'))
    }
  })
  list.forEach((text, i) => {
    const around = networks.find((entry) => contains(entry.network, text))
    if (around !== undefined) problems.push(doubtful(`${pointer}/${i}`, `${text} is already covered by ${around.text}`))
  })
  return problems
}
