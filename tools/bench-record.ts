/**
 * Measures the state of 10,000 domains in git: saving and loading all of it, and recording the
 * outcome of one write: `npm run bench:record`. Exits with 1 if a figure misses its goal.
 */
import { GitSandbox } from '../test/state/git-sandbox.ts'
import { openState } from '../src/state/open-state.ts'
import { realDisk } from '../src/state/folder/real-disk.ts'
import type { RecordedState, RecordedItem, Store } from '../src/state/store.ts'

const recordedAt = '2026-11-20T00:00:00.000Z'
const sandbox = new GitSandbox()
let hasMissed = false

try {
  for (const remote of [false, true]) {
    if (remote) await sandbox.withRemote()
    else await sandbox.repository('alone')
    const folder = remote ? 'clone' : 'alone'
    const remoteLabel = remote ? 'with a remote' : 'without a remote'
    const recorded = buildState(10_000)
    const first = await open(folder)
    await first.load()
    await measure(`save 10,000 domains ${remoteLabel}`, 2000, () => first.save(recorded, 'bench'))
    const second = await open(folder)
    await measure(`load 10,000 domains ${remoteLabel}`, 1000, async () => {
      const { size } = await second.load()
      if (size !== 10_000) throw new Error(`expected 10,000 domains, got ${size}`)
    })
    const ten = new Map([...recorded].slice(0, 10))
    await measure(`save 10 of them ${remoteLabel}`, Infinity, () =>
      second.save(changeItems(ten), 'bench'),
    )
  }
} finally {
  sandbox.remove()
}
if (hasMissed) process.exitCode = 1

async function open(folder: string): Promise<Store> {
  const state = { store: 'git' as const, branch: 'edgewise-state', remote: 'origin', path: '' }
  const place = {
    root: `${sandbox.folder}/${folder}`,
    id: 'default',
    address: 'https://api.example.net',
    account: 'default',
    state,
  }
  return (
    await openState(place, {
      disk: realDisk,
      processName: 'bench',
      openGit: () => sandbox.open(folder),
    })
  ).store
}

async function measure(label: string, maxMs: number, work: () => Promise<void>): Promise<void> {
  const started = performance.now()
  await work()
  const ms = performance.now() - started
  const isMissed = ms > maxMs
  hasMissed ||= isMissed
  console.log(
    `${label.padEnd(40)} ${ms.toFixed(0).padStart(6)} ms` +
      (maxMs === Infinity ? '' : `  (goal ${maxMs})`) +
      (isMissed ? '  MISSED' : ''),
  )
}

function buildState(domains: number): RecordedState {
  return new Map(
    Array.from({ length: domains }, (_, i) => [
      `www${i}.example.com`,
      new Map(Object.entries(buildItems(i))),
    ]),
  )
}

function changeItems(recorded: RecordedState): RecordedState {
  return new Map(
    [...recorded.keys()].map((domain, i) => [
      domain,
      new Map(Object.entries(buildItems(i + 50_000))),
    ]),
  )
}

function buildItems(i: number): Record<string, RecordedItem> {
  const buildItem = (value: RecordedItem['candidates'][number]): RecordedItem => ({
    status: 'confirmed',
    candidates: [value],
    at: recordedAt,
    apply: 'bench',
    origin: 'write',
  })
  return {
    origin: buildItem({ default_master: `192.0.2.${i % 250}`, origin_mode: 'https' }),
    https: buildItem({ cert_id: i, force_https: 301, http2: 'on' }),
    timeout: buildItem({ time: String(5 + (i % 290)) }),
    ip_black_list: buildItem({ list: ['203.0.113.9', `10.${i % 250}.0.0/16`], mode: 'cover' }),
    compress_response: buildItem({
      content_type: ['text/css', 'text/html'],
      min_size: i,
      min_size_unit: 'KB',
    }),
  }
}
