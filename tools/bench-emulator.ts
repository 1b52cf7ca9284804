/**
 * Measures the emulator: queries and full writes a second on one core (it runs in a process of its
 * own), and the largest query of statistics. Exits with 1 if a figure misses its goal.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Pool } from 'undici'

const program = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const domains = Array.from({ length: 10 }, (_, i) => `d${i}.example.com`).join(',')
const config = {
  origin: {
    default_master: '192.0.2.10,192.0.2.11',
    default_slave: '198.51.100.5',
    origin_mode: 'https',
  },
  https: { cert_id: 1001, http2: 'on', force_https: 301, ssl_protocol: ['TLSv1.2', 'TLSv1.3'] },
  cache_rule_list: [{ match_method: 'ext', pattern: 'jpg,png,gif', expire: 3600, priority: 1 }],
  ip_black_list: { list: ['203.0.113.9', '10.0.0.0/8'] },
  referer: { type: 2, list: ['*.example.com', 'www.example.org'], allow_empty: true },
}
const seconds = 3
const folder = mkdtempSync(join(tmpdir(), 'edgewise-bench-'))
let hasMissed = false

try {
  await withEmulator([], async (pool) => {
    const point = 'domains=d0.example.com&start_time=2026-11-01%2010:00&end_time=2026-11-01%2011:00'
    reportRate(
      'queries of prefetches a second',
      await measureRate(pool, () => buildQuery('/v2/cache/prefetch?token=t&task_id=1')),
      2000,
    )
    reportRate(
      'queries of statistics (13 points) a second',
      await measureRate(pool, () => buildQuery(`/v2/stat/httpcode?token=t&${point}`)),
      2000,
    )
    reportRate(
      'full writes (10 domains x 5 items) a second',
      await measureRate(pool, buildWrite),
      500,
    )
    const span = `domains=${domains}&start_time=2026-05-01&end_time=2026-05-31`
    const query = () => buildQuery(`/v2/stat/httpcode/eachDomain?token=t&${span}`)
    await measureMedian(pool, query, 3)
    const ms = await measureMedian(pool, query, 10)
    report('10 domains x 31 days at minute5, ms (median of 10)', ms, 200, ms < 200)
  })
  await withEmulator(['--data', join(folder, 'emulator.json')], async (pool) => {
    reportRate('full writes with --data a second', await measureRate(pool, buildWrite), 0)
  })
} finally {
  rmSync(folder, { recursive: true, force: true })
}
if (hasMissed) process.exitCode = 1

interface Request {
  method: 'GET' | 'POST'
  path: string
  headers?: Record<string, string>
  body?: string
}

function buildQuery(path: string): Request {
  return { method: 'GET', path }
}

/** Builds the nth write; each differs from the previous one. */
function buildWrite(n: number): Request {
  const body = JSON.stringify({
    token: 't',
    domains,
    config: { ...config, https: { ...config.https, cert_id: n + 1 } },
  })
  return {
    method: 'POST',
    path: '/v2/domain/config',
    headers: { 'content-type': 'application/json' },
    body,
  }
}

async function withEmulator(args: string[], work: (pool: Pool) => Promise<void>): Promise<void> {
  const child = spawn(
    process.execPath,
    [program, 'emulator', '--quiet', '--calls-per-minute', '0', ...args],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const line = await new Promise<string>((resolve) =>
    child.stdout.once('data', (text) => resolve(String(text))),
  )
  const pool = new Pool(line.replace('listening on ', '').trim(), { connections: 16 })
  try {
    await work(pool)
  } finally {
    await pool.close()
    child.kill()
  }
}

/** Measures requests a second over 16 connections. */
async function measureRate(pool: Pool, request: (n: number) => Request): Promise<number> {
  let sent = 0
  const startedAt = performance.now()
  const end = startedAt + seconds * 1000
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      while (performance.now() < end) await send(pool, request(sent++))
    }),
  )
  return (sent / (performance.now() - startedAt)) * 1000
}

/** Measures the median time of `count` sequential requests, ms. */
async function measureMedian(pool: Pool, request: () => Request, count: number): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < count; n++) {
    const startedAt = performance.now()
    await send(pool, request())
    times.push(performance.now() - startedAt)
  }
  return times.toSorted((a, b) => a - b)[Math.floor(count / 2)] ?? 0
}

async function send(pool: Pool, request: Request): Promise<void> {
  const { statusCode, body } = await pool.request(request)
  const bytes = await body.arrayBuffer()
  if (statusCode !== 200)
    throw new Error(
      `expected 200, got ${statusCode}: ${Buffer.from(bytes).toString().slice(0, 500)}`,
    )
}

function reportRate(label: string, perSecond: number, goal: number): void {
  report(label, perSecond, goal, perSecond >= goal)
}

function report(label: string, value: number, goal: number, isReached: boolean): void {
  console.log(
    `${label.padEnd(52)} ${String(Math.round(value)).padStart(7)}   (goal ${goal})` +
      (isReached ? '' : '  MISSED'),
  )
  hasMissed ||= !isReached
}
