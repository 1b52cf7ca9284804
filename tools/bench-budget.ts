/**
 * Applies 90 writes to the emulator at its real call rate: by one apply with 0 to 800 ms latency
 * and state in git with a remote, and by three applies at once with state in a PostgreSQL server
 * that is started for it: `npm run bench:budget`. Takes a little over two minutes. Before that it
 * simulates processes that share the rate by a database. Exits with 1 if a write was throttled, or
 * less than 97 % of the possible rate was used.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { RealRuns } from '../test/long/real-runs.ts'
import { startOwnPostgres } from '../test/postgres-server.ts'
import { computeRateShare, simulateSharing } from '../test/service/shared-world.ts'

const writes = 90
const limit = 30
const minute = 60_000

// Five minutes of processes that share the rate, without real time.
for (const trips of [[1], [1, 20], [1, 20, 40], [1, 30, 60]]) {
  const processes = trips.map((tripMs) => ({ tripMs, callMs: 400, calls: Infinity }))
  const run = await simulateSharing(processes, 5 * minute)
  const shares = run.arrivals.map((each) => each.filter((time) => time >= 3 * minute).length)
  const rate = computeRateShare(run)
  console.log(
    `simulated, ${trips.join(', ')} ms to a database: ${(100 * rate).toFixed(1)} % of the rate, ` +
      `${shares.join(', ')} calls in two minutes`,
  )
  if (rate < 0.97) process.exitCode = 1
}

await Promise.all([measureAlone(), measureTogether()])

/** Measures one apply with latency, and state in git. */
async function measureAlone(): Promise<void> {
  const real = await RealRuns.start([])
  const proxy = createServer((request, response) => void forward(real.url, request, response))
  try {
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const { port } = proxy.address() as AddressInfo
    await measure('one apply, git', [real], `http://127.0.0.1:${port}`)
  } finally {
    proxy.close()
    proxy.closeAllConnections()
    real.end()
  }
}

/** Measures three applies of one account at the same time, of workspaces in one database. */
async function measureTogether(): Promise<void> {
  const { served, stop } = await startOwnPostgres(true)
  if ('failure' in served) throw new Error(served.failure)
  const database = { url: served.url, schema: 'bench' }
  const first = await RealRuns.start(['--fault', 'delay:ms=300,probability=1'], database)
  const others = [await first.share('second'), await first.share('third')]
  try {
    await measure('three applies at once, PostgreSQL', [first, ...others], first.url)
  } finally {
    for (const real of [...others, first]) real.end()
    await stop()
  }
}

/** Applies the writes, an equal part by each workspace, and measures their rate at the service. */
async function measure(name: string, workspaces: RealRuns[], url: string): Promise<void> {
  for (const [i, real] of workspaces.entries()) {
    real.workspace('limits: {domainsPerWrite: 1}', url)
    for (let n = 0; n < writes / workspaces.length; n++)
      real.manifest(`d${n}.w${i}.example.com`, { timeout: { time: String(10 + n) } })
  }
  const ends = await Promise.all(workspaces.map((real) => real.run(['apply', '--yes'])))
  const [real] = workspaces as [RealRuns]
  const calls = await real.look<{ time: number; status: number }[]>('calls')
  const times = calls.map(({ time }) => time)
  const throttled = calls.filter(({ status }) => status === 429).length
  const [first = 0, last = 0] = [times[0], times.at(-1)]
  // Minimum: the first thirty as fast as four concurrent calls allow, each later call one minute
  // after the thirtieth call before it.
  const minimumMs = (times[limit - 1] ?? 0) - first + (writes / limit - 1) * minute
  const share = minimumMs / (last - first)
  const seconds = ends.map(({ ms }) => (ms / 1000).toFixed(1))
  console.log(
    `${name}: ${calls.length} calls, ${throttled} throttled, ` +
      `ended after ${seconds.join(', ')} s; ` +
      `arrivals within ${((last - first) / 1000).toFixed(1)} s, ` +
      `minimum ${(minimumMs / 1000).toFixed(1)} s: ${(100 * share).toFixed(1)} % of the rate`,
  )
  for (const { code, err } of ends) if (code !== 0) console.error(err)
  if (ends.some(({ code }) => code !== 0) || throttled > 0 || share < 0.97) process.exitCode = 1
}

/** Forwards a call with up to 400 ms latency in each direction. */
async function forward(
  url: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  await sleep(Math.random() * 400)
  const answer = await fetch(`${url}${request.url ?? ''}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: Buffer.concat(chunks),
  })
  const text = await answer.text()
  await sleep(Math.random() * 400)
  const headers = [...answer.headers].filter(
    ([name]) => name.startsWith('x-') || name === 'content-type' || name === 'retry-after',
  )
  response.writeHead(answer.status, Object.fromEntries(headers)).end(text)
}
