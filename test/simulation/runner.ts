import { diffSnapshots } from '../../src/diff/diff-snapshots.ts'
import {
  apply,
  chosenSnapshots,
  EdgewiseError,
  openRecord,
  type ApplyEvent,
  type LoadedWorkspace,
  type Outside,
  type Recorded,
} from '../../src/index.ts'
import { SecretVault } from '../../src/manifest/secret-vault.ts'
import type { WorkspaceConfig } from '../../src/manifest/workspace.ts'
import type { Snapshot } from '../../src/model/item.ts'
import { makePlan } from '../../src/plan/make-plan.ts'
import { acquire, type Holder } from '../../src/state/lock.ts'
import { withDeltas } from './deltas.ts'
import type { Process } from './machine.ts'
import type { Network } from './network.ts'
import type { RecordWorld } from './record.ts'

/** What a run of `edgewise apply` came to. */
export type Ending = 'settled' | 'complete' | 'incomplete' | 'failed' | 'killed'

export interface Run {
  process: Process
  config: WorkspaceConfig
  desired: Snapshot
  network: Network
  record: RecordWorld
  lockTimeoutMs: number
  isolate: boolean
  signal: AbortSignal
  /** Called with what was loaded, while the lock is held. */
  loaded(recorded: Recorded): void
}

/** `edgewise apply --yes` in a process of the simulation: lock, load, plan, apply, release. */
export async function runApply(run: Run): Promise<Ending> {
  const { process } = run
  const ended = await Promise.race([process.killed, locked(run).catch((error: unknown) => failed(error, process))])
  if (ended !== 'killed') process.end()
  process.tell(`run ends: ${ended}`)
  return ended
}

async function locked(run: Run): Promise<Ending> {
  const { process, signal } = run
  const { clock } = process
  const outside = outsideOf(run)
  const workspace = workspaceOf(run)
  const { store, lock } = await openRecord(workspace, outside)
  const { boot, namespace, pid } = outside.machine
  const since = new Date(clock.now()).toISOString()
  const holder: Holder = { token: `token-${process.name}`, who: process.name, reason: 'apply', since, boot, namespace, pid }
  const lease = await acquire(lock, holder, outside.machine, run.lockTimeoutMs, clock, signal)
  process.tell('holds the lock')
  const lockedAt = { at: clock.now(), up: clock.monotonic() }
  try {
    const recorded = await store.load()
    run.loaded(recorded)
    const plan = withDeltas(planOf(workspace, recorded), recorded, process.chance)
    process.tell(`plans ${plan.changes.length} changes in ${plan.writes.length} writes`)
    const tell = (event: ApplyEvent) => process.tell(told(event))
    const result = await apply(workspace, plan, store, recorded, {
      outside,
      lease,
      lockedAt,
      author: null,
      signal,
      isolate: run.isolate,
      tell,
    })
    if (result.refused + result.inDoubt + result.notSent > 0 || result.unrecorded !== null) return 'incomplete'
    return plan.changes.length === 0 ? 'settled' : 'complete'
  } finally {
    await lease.release().catch((error: unknown) => {
      if (!(error instanceof EdgewiseError) || error.code !== 'record-unreachable') throw error
    })
  }
}

/** What the record says to somebody who only looks. */
export async function readRecord(run: Pick<Run, 'process' | 'config' | 'desired' | 'network' | 'record'>): Promise<Recorded> {
  const { store } = await openRecord(workspaceOf(run), outsideOf(run))
  return store.load()
}

function failed(error: unknown, process: Process): Ending {
  process.tell(`fails: ${error instanceof Error ? error.message : String(error)}`)
  const expected = error instanceof EdgewiseError ? error.code !== 'plan-unproven' && error.code !== 'record-damaged' : isInjected(error)
  if (!expected) process.world.violated('no defect shows', error instanceof Error ? (error.stack ?? error.message) : String(error))
  return 'failed'
}

/** Failures of the simulated outside say so. */
function isInjected(error: unknown): boolean {
  return error instanceof Error && error.message.includes('(simulated)')
}

function told(event: ApplyEvent): string {
  const id = 'id' in event ? ` ${event.id}` : ''
  return `event ${event.type}${id}${'message' in event ? `: ${event.message}` : ''}`
}

function outsideOf({ process, network, record }: Pick<Run, 'process' | 'network' | 'record'>): Outside {
  const { clock, chance } = process
  return { env: {}, clock, random: () => chance.draw(), transport: network.transportOf(process), ...record.outsideOf(process) }
}

function workspaceOf({ config, desired }: Pick<Run, 'config' | 'desired'>): LoadedWorkspace {
  const vault = new SecretVault(config.id, () => null)
  return {
    root: '/',
    config,
    desired,
    diagnostics: [],
    placeOf: () => null,
    commit: async () => null,
    lineOf: () => null,
    vault,
    scrub: (text) => text,
  }
}

function planOf(workspace: LoadedWorkspace, recorded: Recorded) {
  const { grouping, limits } = workspace.config
  const snapshots = chosenSnapshots(workspace, recorded, { target: [], items: [] })
  return makePlan({
    ...snapshots,
    ...diffSnapshots(snapshots.recorded, snapshots.desired),
    grouping,
    limits,
    target: [],
    items: [],
    effort: 'quick',
    commit: null,
  })
}
