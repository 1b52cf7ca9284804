/**
 * Applies 90 writes to the emulator with its true call rate, each answer 0 to 800 ms late, with the
 * record in git and a remote: `npm run bench:budget`. Takes a little over two minutes. Exits with 1
 * when a write was refused for the rate, or when less than 97 % of the possible rate was used.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { RealRuns } from '../test/long/real-runs.ts'

const writes = 90
const limit = 30
const minute = 60_000
const real = await RealRuns.start([])
const slow = createServer((request, response) => void forward(request, response))

try {
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve))
  real.workspace(
    'limits: {domainsPerWrite: 1}',
    `http://127.0.0.1:${(slow.address() as AddressInfo).port}`,
  )
  for (let i = 0; i < writes; i++)
    real.manifest(`d${i}.example.com`, { timeout: { time: String(10 + i) } })
  const { code, err, ms } = await real.run(['apply', '--yes'])
  const calls = await real.look<{ time: number; status: number }[]>('calls')
  const times = calls.map(({ time }) => time)
  const throttled = calls.filter(({ status }) => status === 429).length
  const [first = 0, last = 0] = [times[0], times.at(-1)]
  // As fast as four at a time are answered at first, and from then on each a minute after the
  // thirtieth before it.
  const possible = (times[limit - 1] ?? 0) - first + (writes / limit - 1) * minute
  const share = possible / (last - first)
  console.log(
    `exit code ${code}, ${calls.length} calls, ${throttled} refused for the rate, ${(ms / 1000).toFixed(1)} s in all`,
  )
  console.log(
    `arrivals within ${((last - first) / 1000).toFixed(1)} s; possible were ${(possible / 1000).toFixed(1)} s: ${(100 * share).toFixed(1)} % of the rate`,
  )
  if (code !== 0) console.error(err)
  if (code !== 0 || throttled > 0 || share < 0.97) process.exitCode = 1
} finally {
  slow.close()
  slow.closeAllConnections()
  real.end()
}

/** Passes a call on, up to 400 ms late on the way there and as much on the way back. */
async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  await sleep(Math.random() * 400)
  const answer = await fetch(`${real.url}${request.url ?? ''}`, {
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
