import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { GitSandbox } from '../../test/state/git-sandbox.ts'
import { openState } from '../../src/state/open-state.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import type { RecordedItem, RecordedState, Store } from '../../src/state/store.ts'
import type { JsonObject } from '../../src/model/json.ts'
import type { Row } from './row.ts'
import { findMedian } from './measure.ts'

export interface StateCost {
  /** Seconds. */
  save: number
  load: number
  /** Files and folders made durable by the save, and the seconds that took. */
  syncs: number
  syncing: number
}

/** A disk that makes a file durable so slowly is common, seconds. */
const slowSync = 0.0012

/** Measures the saving of a state in a folder. */
export async function measureSave(domains: number, rounds: number): Promise<Row[]> {
  const costs: StateCost[] = []
  for (let round = 0; round < rounds; round++) costs.push(await measureState('dir', domains))
  const median = (pick: (cost: StateCost) => number) => findMedian(costs.map(pick))
  const syncs = median((cost) => cost.syncs)
  const what = `save the state of ${domains} domains in a folder`
  const row = (id: string, label: string, unit: Row['unit'], measured: number): Row => {
    const goal = unit === 's' ? 2 : null
    return { id: `save-${id}`, what: label, unit, measured, base: null, ratio: null, goal }
  }
  return [
    row(
      'seconds',
      what,
      's',
      median((cost) => cost.save),
    ),
    row('slow-disk', 'the same if a sync takes 1.2 ms', 's', median(estimateSlow)),
    row('syncs', 'syncs of that save', '', syncs),
  ]
}

function estimateSlow({ save, syncs, syncing }: StateCost): number {
  return save - syncing + syncs * slowSync
}

/** Saves a state, then loads it with another store. */
export async function measureState(kind: 'dir' | 'git', domains: number): Promise<StateCost> {
  const sandbox = new GitSandbox()
  try {
    await sandbox.repository('alone')
    const recorded = buildState(domains)
    const first = await open(sandbox, kind)
    await first.load()
    const counter = countSyncs()
    const saveFrom = performance.now()
    await first.save(recorded, 'bench')
    const save = (performance.now() - saveFrom) / 1000
    counter.end()
    const second = await open(sandbox, kind)
    const loadFrom = performance.now()
    const { size } = await second.load()
    const load = (performance.now() - loadFrom) / 1000
    if (size !== domains) throw new Error(`expected ${domains} domains, got ${size}`)
    return { save, load, syncs: counter.syncs, syncing: counter.seconds }
  } finally {
    sandbox.remove()
  }
}

async function open(sandbox: GitSandbox, kind: 'dir' | 'git'): Promise<Store> {
  const root = join(sandbox.folder, 'alone')
  const path = join(root, '.edgewise', 'state')
  const state = { store: kind, branch: 'edgewise-state', remote: 'origin', path }
  const place = {
    root,
    id: 'default',
    address: 'https://api.example.net',
    account: 'default',
    state,
  }
  const tools = { disk: realDisk, processName: 'bench', openGit: () => sandbox.open('alone') }
  return (await openState(place, tools)).store
}

/** Counts the synchronous syncs of this process until it ends. */
function countSyncs(): { syncs: number; seconds: number; end: () => void } {
  const { fsyncSync, fdatasyncSync } = fs
  const counter = { syncs: 0, seconds: 0, end }
  const count = (sync: (file: number) => void) => (file: number) => {
    const from = performance.now()
    sync(file)
    counter.syncs++
    counter.seconds += (performance.now() - from) / 1000
  }
  fs.fsyncSync = count(fsyncSync)
  fs.fdatasyncSync = count(fdatasyncSync)
  syncBuiltinESMExports()
  function end(): void {
    Object.assign(fs, { fsyncSync, fdatasyncSync })
    syncBuiltinESMExports()
  }
  return counter
}

function buildState(domains: number): RecordedState {
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
