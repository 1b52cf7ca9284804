import type { Fault } from '../../src/emulator/entities/fault.ts'
import type { Domain, ItemKey, Snapshot } from '../../src/core/model/item.ts'
import type { Chance } from './chance.ts'

/**
 * Probabilities of faults. Each seed has some of them, rare or frequent, so that they occur in all
 * combinations.
 */
export interface Faults {
  /**
   * Faults of a call: refused connection, lost before or after it took effect, error status,
   * malformed answer, slow.
   */
  unreached: number
  lostRequest: number
  lostAnswer: number
  serverError: number
  nonsense: number
  slow: number
  /** Probability that a lost call takes effect late, within `settleSeconds` of its end. */
  late: number
  /**
   * Probability that a process is killed, and its latest step then; probability that a machine
   * loses its power.
   */
  killed: number
  latestStep: number
  powerCut: number
  /**
   * Probability within a minute that the wall clock of a machine is set, or that the machine stands
   * still.
   */
  clockSet: number
  standStill: number
  /**
   * Probability that a run is suspended; that a call stalls between the last check and its socket;
   * that somebody removes the lock of a suspended run and starts another one.
   */
  suspended: number
  stalled: number
  unlocked: number
  /**
   * Probability that a run is interrupted, or that another run starts beside it, on the same
   * machine or another one.
   */
  interrupted: number
  rival: number
  /**
   * Probability of a fault in an operation of the disk, or of the remote repository; in a statement
   * of a database, it is lower.
   */
  diskError: number
  remoteError: number
  remoteSlow: number
  /** Probability within a minute that the database is restarted. */
  restart: number
  /** Probability within a minute that a machine loses the remote or database for some minutes. */
  cutOff: number
  /** Probability within a minute that another writer pushes to the remote's branch. */
  rivalPush: number
  /** Probability within a minute that the remote's branch is set back or deleted for a while. */
  rewind: number
}

/**
 * Maximum error of a wall clock, ms. Any two clocks agree within four minutes, so that a time of a
 * minute ago on one is within five minutes on the other.
 */
export const maxOffset = 119_000

export const noFaults: Faults = {
  unreached: 0,
  lostRequest: 0,
  lostAnswer: 0,
  serverError: 0,
  nonsense: 0,
  slow: 0,
  late: 0,
  killed: 0,
  latestStep: 0,
  powerCut: 0,
  clockSet: 0,
  standStill: 0,
  suspended: 0,
  stalled: 0,
  unlocked: 0,
  interrupted: 0,
  rival: 0,
  diskError: 0,
  remoteError: 0,
  remoteSlow: 0,
  restart: 0,
  cutOff: 0,
  rivalPush: 0,
  rewind: 0,
}

export function drawFaults(chance: Chance): Faults {
  const drawSometimes = (max: number) => (chance.happens(0.4) ? chance.draw() * max : 0)
  return {
    unreached: drawSometimes(0.3),
    lostRequest: drawSometimes(0.2),
    lostAnswer: drawSometimes(0.3),
    serverError: drawSometimes(0.3),
    nonsense: drawSometimes(0.15),
    slow: drawSometimes(0.3),
    late: chance.happens(0.7) ? chance.draw() : 0,
    killed: chance.happens(0.6) ? chance.draw() : 0,
    latestStep: chance.pick([50, 300, 1500]),
    powerCut: drawSometimes(0.5),
    clockSet: drawSometimes(0.5),
    standStill: drawSometimes(0.3),
    ...drawSuspension(chance.fork('suspension')),
    interrupted: drawSometimes(0.6),
    rival: drawSometimes(1),
    diskError: drawSometimes(0.02),
    remoteError: drawSometimes(0.2),
    remoteSlow: drawSometimes(0.3),
    restart: drawRestart(chance.fork('database')),
    cutOff: drawSometimes(0.5),
    rivalPush: drawSometimes(1),
    rewind: drawSometimes(1),
  }
}

function drawRestart(chance: Chance): number {
  return chance.happens(0.4) ? chance.draw() * 0.5 : 0
}

function drawSuspension(chance: Chance): Pick<Faults, 'suspended' | 'stalled' | 'unlocked'> {
  return {
    suspended: chance.happens(0.5) ? 0.3 + 0.7 * chance.draw() : 0,
    stalled: chance.happens(0.2) ? chance.draw() * 0.3 : 0,
    unlocked: chance.happens(0.8) ? 0.3 + 0.7 * chance.draw() : 0,
  }
}

/** Draws the only fault of a service that refuses one item of one domain; null for others. */
export function drawCombination(chance: Chance, desired: Snapshot): Fault[] | null {
  if (!chance.happens(0.06)) return null
  const domain = chance.pick([...desired.keys()])
  const items = [...(desired.get(domain)?.keys() ?? [])]
  return items.length === 0
    ? null
    : [{ kind: 'refuse', domain, item: chance.pick(items), named: false }]
}

/** Draws faults of the service itself, which last until it is healed. */
export function drawServiceFaults(chance: Chance, domains: Domain[], items: ItemKey[]): Fault[] {
  const faults: Fault[] = []
  // A bad domain fails alone: a refusal of several domains does not say which were saved.
  if (chance.happens(0.4))
    faults.push({ kind: 'partial', domain: chance.pick(domains), named: chance.happens(0.5) })
  if (chance.happens(0.4)) faults.push({ kind: 'rate', probability: chance.draw() * 0.4 })
  if (chance.happens(0.2))
    faults.push({ kind: 'refuse', item: chance.pick(items), named: chance.happens(0.5) })
  if (chance.happens(0.15))
    faults.push({ kind: 'refuse', domain: chance.pick(domains), named: chance.happens(0.5) })
  if (chance.happens(0.1))
    faults.push({
      kind: 'refuse',
      item: chance.pick(items),
      domain: chance.pick(domains),
      named: false,
    })
  if (chance.happens(0.1)) faults.push({ kind: 'rewrite', probability: chance.draw() * 0.5 })
  if (chance.happens(0.05)) faults.push({ kind: 'unauthorized-from', probability: 0.2 })
  return faults
}
