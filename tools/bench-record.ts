/**
 * Measures a record of 10,000 domains in git: saving it whole, loading it, and recording what came
 * of one write. Exits with 1 where it falls short of what it promises. `npm run bench:record`.
 */
import { GitSandbox } from '../test/state/git-sandbox.ts'
import { openState } from '../src/state/open-state.ts'
import { realDisk } from '../src/state/folder/real-disk.ts'
import type { RecordedState, RecordedItem, Store } from '../src/state/store.ts'

const at = '2026-11-20T00:00:00.000Z'
const sandbox = new GitSandbox()
let short = false

try {
  for (const remote of [false, true]) {
    if (remote) await sandbox.withRemote()
    else await sandbox.repository('alone')
    const where = remote ? 'clone' : 'alone'
    const how = remote ? 'with a remote' : 'without a remote'
    const recorded = recordOf(10_000)
    const first = await open(where)
    await first.load()
    await measure(`save 10,000 domains ${how}`, 2000, () => first.save(recorded, 'bench'))
    const second = await open(where)
    await measure(`load 10,000 domains ${how}`, 1000, async () => {
      const { size } = await second.load()
      if (size !== 10_000) throw new Error(`expected 10,000 domains, got ${size}`)
    })
    const ten = new Map([...recorded].slice(0, 10))
    await measure(`save 10 of them ${how}`, Infinity, () => second.save(changed(ten), 'bench'))
  }
} finally {
  sandbox.remove()
}
if (short) process.exitCode = 1

async function open(where: string): Promise<Store> {
  const state = { store: 'git' as const, branch: 'edgewise-state', remote: 'origin', path: '' }
  const place = {
    root: `${sandbox.folder}/${where}`,
    id: 'default',
    address: 'https://api.example.net',
    account: 'default',
    state,
  }
  return (
    await openState(place, {
      disk: realDisk,
      processName: 'bench',
      openGit: () => sandbox.open(where),
    })
  ).store
}

async function measure(what: string, most: number, work: () => Promise<void>): Promise<void> {
  const started = performance.now()
  await work()
  const ms = performance.now() - started
  const missed = ms > most
  short ||= missed
  console.log(
    `${what.padEnd(40)} ${ms.toFixed(0).padStart(6)} ms${most === Infinity ? '' : `  (promised: ${most})`}${missed ? '  TOO SLOW' : ''}`,
  )
}

function recordOf(domains: number): RecordedState {
  return new Map(
    Array.from({ length: domains }, (_, i) => [
      `www${i}.example.com`,
      new Map(Object.entries(itemsOf(i))),
    ]),
  )
}

function changed(recorded: RecordedState): RecordedState {
  return new Map(
    [...recorded.keys()].map((domain, i) => [domain, new Map(Object.entries(itemsOf(i + 50_000)))]),
  )
}

function itemsOf(i: number): Record<string, RecordedItem> {
  const held = (value: RecordedItem['candidates'][number]): RecordedItem => ({
    status: 'confirmed',
    candidates: [value],
    at,
    apply: 'bench',
    origin: 'write',
  })
  return {
    origin: held({ default_master: `192.0.2.${i % 250}`, origin_mode: 'https' }),
    https: held({ cert_id: i, force_https: 301, http2: 'on' }),
    timeout: held({ time: String(5 + (i % 290)) }),
    ip_black_list: held({ list: ['203.0.113.9', `10.${i % 250}.0.0/16`], mode: 'cover' }),
    compress_response: held({
      content_type: ['text/css', 'text/html'],
      min_size: i,
      min_size_unit: 'KB',
    }),
  }
}
