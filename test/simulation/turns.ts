import { createItemState, type Snapshot } from '../../src/core/model/item.ts'
import { Chance } from './chance.ts'
import { createConfig, service } from './config.ts'
import { noFaults } from './faults.ts'
import { Laws } from './laws.ts'
import { Network } from './network.ts'
import { runApply } from './runner.ts'
import { runSealed } from './seal.ts'
import { Service } from './service.ts'
import { StateWorld, type StoreKind } from './state-world.ts'
import { World } from './world.ts'

/** An apply in a turn: its machine, from 0, and the number of its writes. */
export interface Turn {
  machine: number
  writes: number
  /** Pause before it, ms. */
  afterMs?: number
}

/**
 * Runs applies in turn, or all at once, on machines that share the state and the account, without
 * faults. Returns the time until the last one has ended, s, and the broken laws.
 */
export async function runTurns(
  kind: StoreKind,
  turns: Turn[],
  together = false,
): Promise<{ seconds: number; violations: string[] }> {
  const world = new World()
  await runSealed(world, () => world.passUntil(run(world, kind, turns, together), 3_600_000))
  return { seconds: (world.time - world.begin) / 1000, violations: world.violations }
}

async function run(world: World, kind: StoreKind, turns: Turn[], together: boolean): Promise<void> {
  const chance = new Chance('turns')
  const stateWorld = new StateWorld(world, noFaults, kind, service)
  const drawn = createConfig(chance.fork('config'), stateWorld.state)
  const limits = { ...drawn.limits, callsPerMinute: 30, domainsPerWrite: 1, maxWaitSeconds: 300 }
  const config = { ...drawn, limits }
  const network = new Network(
    world,
    new Service(world, 'turns', limits.callsPerMinute, 'status', []),
    connectLaws(world, stateWorld),
    config.service.settleSeconds * 1000,
    noFaults,
  )
  let all = 0
  const runs = turns.map(({ machine: index, writes, afterMs = 0 }, i) => {
    const machine = stateWorld.machines[index]
    if (machine === undefined) throw new TypeError(`expected a machine, got number ${index}`)
    all += writes
    const desired = buildDesired(all)
    return async () => {
      await new Promise<void>((resolve) => world.after(afterMs, resolve))
      const process = machine.start(`${i}`, chance.fork(`${i}`), Infinity)
      const ending = await runApply({
        process,
        config,
        desired,
        network,
        stateWorld,
        lockTimeoutMs: 600_000,
        signal: new AbortController().signal,
        loaded: () => undefined,
        marked: () => undefined,
      })
      if (ending !== 'complete') world.violated('everything is applied', ending)
    }
  })
  if (together) await Promise.all(runs.map((each) => each()))
  else for (const each of runs) await each()
}

function connectLaws(world: World, stateWorld: StateWorld): Laws {
  const laws = new Laws(world, 30, 10_000)
  laws.lockedBy(() => stateWorld.findLockHolder())
  return laws
}

function buildDesired(domains: number): Snapshot {
  const value = { host: 'one.example.net' }
  return new Map(
    Array.from({ length: domains }, (_, i) => [
      `d${i}.example.com`,
      new Map([['origin_host', createItemState(value)]]),
    ]),
  )
}
