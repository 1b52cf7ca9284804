import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { writeFleet } from './fleet.ts'
import { findMedian } from './measure.ts'
import { createRow, type Row } from './row.ts'
import type { Workbench } from './workbench.ts'

export type StoreKind = 'dir' | 'git'

const storeNames: Record<StoreKind, string> = { dir: 'folder', git: 'git' }

/** Measures a first apply without call rate, to the built-in emulator. */
export function measureApply(
  bench: Workbench,
  kind: StoreKind,
  domains: number,
  rounds: number,
): Row[] {
  const seconds: number[] = []
  for (let round = 0; round < rounds; round++) {
    const folder = makeWorkspace(bench, kind, domains, '')
    const { wall, output } = bench.edgewise(folder, ['apply', '--yes'])
    const confirmed = /writes: ([\d,]+) confirmed\.$/.exec(output.trimEnd())?.[1]
    if (confirmed === undefined)
      throw new Error(`the apply is not complete:\n${output.slice(-1000)}`)
    seconds.push((wall / Number(confirmed.replaceAll(',', ''))) * 1000)
  }
  const what = `first apply of ${domains} domains, ${storeNames[kind]}, a 1,000 writes`
  return [createRow(`apply-${kind}`, what, 's', findMedian(seconds), 5)]
}

/** Measures the memory of an apply of at least as many writes as domains, to an emulator beside. */
export async function measureApplyMemory(
  bench: Workbench,
  kind: StoreKind,
  domains: number,
): Promise<Row[]> {
  const { url } = await bench.startEmulator()
  const folder = makeWorkspace(bench, kind, domains, `service: {url: "${url}"}`)
  const file = join(bench.home, 'memory')
  rmSync(file, { force: true })
  const args = ['apply', '--yes', '--json', '--quiet']
  const child = bench.spawn(folder, args, file)
  const confirmedAt: number[] = []
  if (child.stdout === null) throw new Error('the apply has no output')
  for await (const line of createInterface(child.stdout))
    if (line.includes('"write.confirmed"')) confirmedAt.push(Date.now())
  const [code] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode]
  if (code !== 0) throw new Error(`the apply ended with exit code ${code}`)
  return buildMemoryRows(kind, confirmedAt, readFileSync(file, 'utf8'))
}

function buildMemoryRows(kind: StoreKind, confirmedAt: number[], report: string): Row[] {
  const samples = parseSamples(report)
  const [quarter, half, all] = [0.25, 0.5, 1].map((share) =>
    findMemoryAt(samples.now, confirmedAt, share),
  )
  const what = `memory of an apply of ${confirmedAt.length} writes, ${storeNames[kind]}`
  const id = `apply-memory-${kind}`
  return [
    createRow(`${id}-25`, `${what}, at 25 %`, 'MB', quarter ?? NaN),
    createRow(`${id}-50`, `${what}, at 50 %`, 'MB', half ?? NaN),
    {
      ...createRow(`${id}-100`, `${what}, at 100 % / 50 %`, 'MB', all ?? NaN),
      base: half ?? NaN,
      ratio: (all ?? NaN) / (half ?? NaN),
      goal: 1.1,
    },
    createRow(`${id}-peak`, `peak ${what}`, 'MB', samples.peak, 300),
  ]
}

interface Samples {
  now: { ms: number; mb: number }[]
  peak: number
}

function parseSamples(report: string): Samples {
  const lines = report.split('\n').map((line) => line.split(' '))
  const now = lines
    .filter(([kind]) => kind === 'now')
    .map(([, ms, mb]) => ({ ms: Number(ms), mb: Number(mb) }))
  return { now, peak: Number(lines.find(([kind]) => kind === 'peak')?.[2] ?? NaN) }
}

/**
 * Finds the memory when a share of the writes is confirmed: the median of the samples during the
 * twentieth of the writes before, since each garbage collection lowers it.
 */
export function findMemoryAt(
  samples: { ms: number; mb: number }[],
  confirmedAt: number[],
  share: number,
): number {
  const from = confirmedAt[Math.floor((share - 0.05) * (confirmedAt.length - 1))] ?? 0
  const to = confirmedAt[Math.floor(share * (confirmedAt.length - 1))] ?? 0
  return findMedian(samples.filter(({ ms }) => ms >= from && ms <= to).map(({ mb }) => mb))
}

/** Makes a workspace with an empty state; one in git has a bare remote beside it. */
function makeWorkspace(
  bench: Workbench,
  kind: StoreKind,
  domains: number,
  settings: string,
): string {
  const folder = bench.makeFolder(`apply-${kind}`)
  const limits = settings === '' ? '' : 'limits: {callsPerMinute: 100000}\n'
  writeFleet(folder, domains, `state: {store: ${kind}}\n${limits}${settings}`)
  if (kind === 'git') {
    const remote = bench.makeFolder('remote.git')
    bench.git(remote, 'init', '--quiet', '--bare')
    bench.git(folder, 'init', '--quiet')
    bench.git(folder, 'commit', '--quiet', '--allow-empty', '-m', 'first')
    bench.git(folder, 'remote', 'add', 'origin', remote)
    bench.git(folder, 'push', '--quiet', 'origin', 'HEAD')
  }
  return folder
}
