import type { Fault } from '../../src/emulator/entities/fault.ts'
import type { Domain, ItemKey } from '../../src/model/item.ts'
import type { Chance } from './chance.ts'

/**
 * How probable each thing is that goes wrong. Each seed has some of them, rarely or often, so that
 * they meet in all ways.
 */
export interface Faults {
  /**
   * Of a call of the service: refused connection, lost before or after it took effect, an error
   * status, nonsense, slow.
   */
  unreached: number
  lostRequest: number
  lostAnswer: number
  serverError: number
  nonsense: number
  slow: number
  /** Of what may land late: that it does, within `settleSeconds` of being given up. */
  late: number
  /**
   * Of a process: that it is killed; then at which step at the latest. Of a machine: that its power
   * fails.
   */
  killed: number
  latestStep: number
  powerCut: number
  /** Of a machine, within a minute: that its wall clock is set, that it stands still. */
  clockSet: number
  standStill: number
  /**
   * Of a run: that somebody interrupts it, that another one is started beside it, on the same
   * machine or another.
   */
  interrupted: number
  rival: number
  /** Of an operation of the disk, of the remote repository. */
  diskError: number
  remoteError: number
  remoteSlow: number
  /** Of a machine, within a minute: that it is cut off from the remote for some minutes. */
  cutOff: number
  /** Of a minute: that somebody else writes to the remote's branch. */
  rivalPush: number
}

/**
 * How far a wall clock may be off, ms: any two agree within four minutes, so that what one says of
 * a minute ago is within five.
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
  interrupted: 0,
  rival: 0,
  diskError: 0,
  remoteError: 0,
  remoteSlow: 0,
  cutOff: 0,
  rivalPush: 0,
}

export function drawFaults(chance: Chance): Faults {
  const often = (most: number) => (chance.happens(0.4) ? chance.draw() * most : 0)
  return {
    unreached: often(0.3),
    lostRequest: often(0.2),
    lostAnswer: often(0.3),
    serverError: often(0.3),
    nonsense: often(0.15),
    slow: often(0.3),
    late: chance.happens(0.7) ? chance.draw() : 0,
    killed: chance.happens(0.6) ? chance.draw() : 0,
    latestStep: chance.pick([50, 300, 1500]),
    powerCut: often(0.5),
    clockSet: often(0.5),
    standStill: often(0.3),
    interrupted: often(0.6),
    rival: often(1),
    diskError: often(0.02),
    remoteError: often(0.2),
    remoteSlow: often(0.3),
    cutOff: often(0.5),
    rivalPush: often(1),
  }
}

/** What the service itself does wrong, or refuses for good until it is healed. */
export function drawServiceFaults(chance: Chance, domains: Domain[], items: ItemKey[]): Fault[] {
  const faults: Fault[] = []
  // One domain that is bad spoils only itself: what a refusal of several domains says nothing
  // about.
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
