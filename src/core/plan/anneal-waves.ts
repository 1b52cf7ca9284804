import type { Progress } from '../model/parallel.ts'

/** Waves of domains, all by number, and what an exchange of domains has to keep. */
export interface WaveTable {
  /** Domain → its wave, from 0. */
  waves: Int32Array
  waveCount: number
  /** Domains of each joined write; it takes a write for every `width` of its domains in a wave. */
  groups: number[][]
  width: number
  /** Domains that must not move. */
  fixed: ReadonlySet<number>
  /** Domain → its kinds of change that are due. */
  kinds: number[][]
  /** Kind → the latest wave that may be the first to try it. */
  dueWaves: number[]
  /** Null if the waves are limited by their numbers of domains only. */
  load: WaveLoad | null
}

/** Requests of the domains, and the maximum of those of all waves up to each one. */
export interface WaveLoad {
  requests: Float64Array
  limits: number[]
}

/** First and last temperature, in writes that an accepted exchange typically costs. */
const temperatures = { first: 0.6, last: 0.06 }
const stepsPerReport = 100_000
/** Share of its requests that a wave by traffic keeps at least. */
const minLoad = 0.75

/**
 * Exchanges domains of different waves by simulated annealing, so that the waves take few writes.
 * Changes `waves` in place. The sizes of the waves stay, and no kind of change starts later than it
 * is due. With a load, single domains move as far as it allows, and sizes change.
 */
export function annealWaves(
  table: WaveTable,
  steps: number,
  random: () => number,
  progress: Progress = () => undefined,
): void {
  const { waves, waveCount, groups, fixed, load } = table
  const loose = [...waves.keys()].filter((domain) => !fixed.has(domain))
  const { groupsByDomain, move, countWrites, countMissing } = createCounts(table)
  const moveLoad = load === null ? null : createLoads(table, load)
  const members: number[][] = Array.from({ length: waveCount }, () => [])
  const place = new Int32Array(waves.length)
  for (const domain of loose) {
    const own = members[waves[domain] ?? 0] ?? []
    place[domain] = own.push(domain) - 1
  }
  const setMember = (wave: number, index: number, domain: number): void => {
    const own = members[wave]
    if (own !== undefined) own[index] = domain
    place[domain] = index
  }
  const least = countLeastWrites(table)
  let writes = countWrites()
  const cooling = temperatures.last / temperatures.first
  for (let step = 0; step < steps && writes > least; step++) {
    if (step % stepsPerReport === 0) progress(step, steps)
    const domain = draw(loose, random)
    const neighbour = draw(groups[draw(groupsByDomain[domain] ?? [], random)] ?? [], random)
    const [from, to] = [waves[domain] ?? 0, waves[neighbour] ?? 0]
    const candidates = members[to] ?? []
    if (from === to || candidates.length === 0) continue
    const other = moveLoad === null ? draw(candidates, random) : null
    if (moveLoad?.(domain, from, to) === false) continue
    const cost = move(domain, to) + (other === null ? 0 : move(other, from))
    const temperature = temperatures.first * cooling ** (step / steps)
    if (countMissing() === 0 && (cost <= 0 || random() < Math.exp(-cost / temperature))) {
      writes += cost
      if (other === null) continue
      const [index, otherIndex] = [place[domain] ?? 0, place[other] ?? 0]
      setMember(from, index, other)
      setMember(to, otherIndex, domain)
    } else {
      if (other !== null) move(other, to)
      move(domain, from)
      moveLoad?.(domain, to, from)
    }
  }
  if (steps > 0) progress(steps, steps)
}

/** Computes a lower bound of the writes: each group and each wave takes its own. */
function countLeastWrites({ waves, waveCount, groups, width, load }: WaveTable): number {
  const sizes = Array.from({ length: waveCount }, () => 0)
  for (const wave of waves) sizes[wave] = (sizes[wave] ?? 0) + 1
  const sum = (counts: number[]): number =>
    counts.reduce((total, count) => total + Math.ceil(count / width), 0)
  return Math.max(sum(groups.map((own) => own.length)), load === null ? sum(sizes) : 0)
}

/** Counts the writes, and the kinds that no domain of a wave until their due wave has. */
function createCounts({ waves, waveCount, groups, width, kinds, dueWaves }: WaveTable) {
  const groupsByDomain: number[][] = Array.from(waves, () => [])
  const domainsByGroup = new Int32Array(groups.length * waveCount)
  for (const [group, own] of groups.entries()) {
    for (const domain of own) {
      groupsByDomain[domain]?.push(group)
      const index = group * waveCount + (waves[domain] ?? 0)
      domainsByGroup[index] = (domainsByGroup[index] ?? 0) + 1
    }
  }
  const holders = new Int32Array(dueWaves.length)
  for (const [domain, own] of kinds.entries())
    for (const kind of own)
      if ((waves[domain] ?? 0) <= (dueWaves[kind] ?? 0)) holders[kind] = (holders[kind] ?? 0) + 1
  let missing = holders.filter((count) => count === 0).length
  /** Moves a domain to another wave; returns the number of writes that this adds. */
  const move = (domain: number, to: number): number => {
    const from = waves[domain] ?? 0
    let added = 0
    for (const group of groupsByDomain[domain] ?? []) {
      const [left, joined] = [group * waveCount + from, group * waveCount + to]
      const rest = (domainsByGroup[left] ?? 0) - 1
      const before = domainsByGroup[joined] ?? 0
      if (rest % width === 0) added--
      if (before % width === 0) added++
      domainsByGroup[left] = rest
      domainsByGroup[joined] = before + 1
    }
    for (const kind of kinds[domain] ?? []) {
      const due = dueWaves[kind] ?? 0
      const change = Number(to <= due) - Number(from <= due)
      if (change === 0) continue
      const count = (holders[kind] ?? 0) + change
      if (count === 0) missing++
      else if (count === 1 && change > 0) missing--
      holders[kind] = count
    }
    waves[domain] = to
    return added
  }
  return {
    groupsByDomain,
    move,
    countWrites: () => domainsByGroup.reduce((sum, count) => sum + Math.ceil(count / width), 0),
    countMissing: () => missing,
  }
}

/**
 * Sums the requests of each wave. A wave keeps most of them, so that it is not empty, and those up
 * to each wave stay within its limit.
 */
function createLoads({ waves }: WaveTable, { requests, limits }: WaveLoad) {
  const sums = limits.map(() => 0)
  const add = (domain: number, wave: number, sign: number): void => {
    // A domain without requests counts too.
    sums[wave] = (sums[wave] ?? 0) + sign * ((requests[domain] ?? 0) + 1)
  }
  for (const [domain, wave] of waves.entries()) add(domain, wave, 1)
  const least = sums.map((sum) => sum * minLoad)
  /** Moves a domain unless that exceeds a limit; returns whether it did. */
  return (domain: number, from: number, to: number): boolean => {
    add(domain, from, -1)
    add(domain, to, 1)
    let total = 0
    const isWithin = sums.every((sum, wave) => {
      total += sum
      const grows = wave >= to && wave < from
      return !grows || total <= (limits[wave] ?? 0)
    })
    if (isWithin && (sums[from] ?? 0) >= (least[from] ?? 0)) return true
    add(domain, from, 1)
    add(domain, to, -1)
    return false
  }
}

function draw(list: readonly number[], random: () => number): number {
  return list[Math.floor(random() * list.length)] ?? 0
}
