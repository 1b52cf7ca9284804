import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { acquireAccount } from '../../test/state/contender.ts'
import { GitSandbox } from '../../test/state/git-sandbox.ts'
import type { Disk } from '../../src/state/folder/disk.ts'
import { openState } from '../../src/state/store/open-state.ts'
import type { OpenState } from '../../src/state/store/store-opener.ts'
import { openDatabase } from '../../src/state/postgres/open-database.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import type { RecordedItem, RecordedState } from '../../src/state/store/store.ts'
import type { DatabaseConfig, StateConfig } from '../../src/core/model/config.ts'
import type { JsonObject } from '../../src/core/model/json.ts'
import { createRow, type Row } from './row.ts'
import { findMedian } from './measure.ts'

export interface StateCost {
  /** Seconds. */
  save: number
  load: number
  /** Syncs of the save, of a file, a folder or the file system, and the seconds they took. */
  syncs: number
  syncing: number
}

/** A disk that makes a file durable so slowly is common, seconds. */
const slowSync = 0.0012

/** Measures the saving of a state in a folder. */
export async function measureSave(domains: number, rounds: number): Promise<Row[]> {
  const costs: StateCost[] = []
  const sandboxes: GitSandbox[] = []
  try {
    for (let round = 0; round < rounds; round++) {
      const sandbox = new GitSandbox()
      sandboxes.push(sandbox)
      costs.push(await measureStateIn(sandbox, 'dir', domains))
    }
  } finally {
    // ext4 is slow to create files for minutes after it has removed many: it skips their inodes.
    for (const sandbox of sandboxes) sandbox.remove()
  }
  const median = (pick: (cost: StateCost) => number) => findMedian(costs.map(pick))
  const what = `save the state of ${domains} domains in a folder`
  const save = median((cost) => cost.save)
  const syncs = median((cost) => cost.syncs)
  return [
    createRow('save-seconds', what, 's', save, 2),
    createRow('save-slow-disk', 'the same if a sync takes 1.2 ms', 's', median(estimateSlow), 2),
    createRow('save-syncs', 'syncs of that save', '', syncs),
  ]
}

function estimateSlow({ save, syncs, syncing }: StateCost): number {
  return save - syncing + syncs * slowSync
}

/** Measures a state in a new folder or repository. */
export async function measureState(kind: 'dir' | 'git', domains: number): Promise<StateCost> {
  const sandbox = new GitSandbox()
  try {
    return await measureStateIn(sandbox, kind, domains)
  } finally {
    sandbox.remove()
  }
}

async function measureStateIn(
  sandbox: GitSandbox,
  kind: 'dir' | 'git',
  domains: number,
): Promise<StateCost> {
  await sandbox.repository('alone')
  return saveAndLoad((disk) => openBenchState(sandbox, kind, disk), buildState(domains))
}

/** Saves a state under the lock, then loads it with another store. */
async function saveAndLoad(
  open: (disk: Disk) => Promise<OpenState>,
  recorded: RecordedState,
): Promise<StateCost> {
  const counter = { syncs: 0, seconds: 0 }
  const opened = await open(countSyncs(counter))
  const { store } = opened
  const lease = await acquireAccount(opened, 'bench')
  await store.load()
  Object.assign(counter, { syncs: 0, seconds: 0 })
  const saveFrom = performance.now()
  await store.save(recorded, 'bench')
  await store.checkpoint?.()
  const save = (performance.now() - saveFrom) / 1000
  const { syncs, seconds } = counter
  const second = await open(realDisk)
  const loadFrom = performance.now()
  const { size } = await second.store.load()
  const load = (performance.now() - loadFrom) / 1000
  if (size < recorded.size) throw new Error(`expected ${recorded.size} domains, got ${size}`)
  await lease.release()
  return { save, load, syncs, syncing: seconds }
}

/** Opens a store of the sandbox. */
export function openBenchState(
  sandbox: GitSandbox,
  store: StateConfig['store'],
  disk: Disk,
  database?: DatabaseConfig,
): Promise<OpenState> {
  const root = join(sandbox.folder, 'alone')
  const path = join(root, '.edgewise', 'state')
  const place = { branch: 'edgewise-state', remote: 'origin', path }
  const state: StateConfig = { store, ...place, ...(database && { database }) }
  const key = {
    root,
    id: 'default',
    address: 'https://api.example.net',
    account: 'default',
    state,
  }
  const clock = { monotonic: () => performance.now(), sleep: (ms: number) => sleep(ms) }
  const { signal } = new AbortController()
  return openState(key, {
    disk,
    processName: 'default',
    openGit: () => sandbox.open('alone'),
    openDatabase: (config) => openDatabase(config, { clock, signal }),
  })
}

/** Creates a disk that counts its syncs. */
function countSyncs(counter: { syncs: number; seconds: number }): Disk {
  const count =
    <Result>(sync: (path: string) => Promise<Result>) =>
    async (path: string): Promise<Result> => {
      const from = performance.now()
      const result = await sync(path)
      counter.syncs++
      counter.seconds += (performance.now() - from) / 1000
      return result
    }
  const { sync, syncIfThere, syncAll } = realDisk
  return {
    ...realDisk,
    sync: count(sync),
    syncIfThere: count(syncIfThere),
    syncAll: count(syncAll),
  }
}

/** Builds state of five items of each domain. */
export function buildState(domains: number): RecordedState {
  const build = (i: number): [string, RecordedItem][] =>
    Object.entries<JsonObject>({
      origin: { default_master: `192.0.2.${i % 250}`, origin_mode: 'https' },
      https: { cert_id: i, force_https: 301, http2: 'on' },
      timeout: { time: String(5 + (i % 290)) },
      ip_black_list: { list: ['203.0.113.9', `10.${i % 250}.0.0/16`], mode: 'cover' },
      compress_response: { content_type: ['text/css'], min_size: i, min_size_unit: 'KB' },
    }).map(([item, value]) => [item, { ...recordedItem, candidates: [value] }])
  return new Map(
    Array.from({ length: domains }, (_, i) => [`www${i}.example.com`, new Map(build(i))]),
  )
}

const recordedItem = {
  status: 'confirmed' as const,
  at: '2026-11-20T00:00:00.000Z',
  apply: 'bench',
  origin: 'write' as const,
}
