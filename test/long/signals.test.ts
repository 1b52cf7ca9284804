// @module-tag often
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { RealRuns } from './real-runs.ts'

const domains = Array.from({ length: 9 }, (_, i) => `d${i}.example.com`)
let real: RealRuns
let round = 0
beforeAll(async () => {
  real = await RealRuns.start(['--calls-per-minute', '0', { kind: 'delay', ms: 700 }])
  real.workspace('limits: {callsPerMinute: 10000, domainsPerWrite: 1}')
})
afterAll(() => real.end())
beforeEach(() => {
  round++
  for (const [i, domain] of domains.entries())
    real.manifest(domain, { timeout: { time: String(10 * round + i) } })
})

/**
 * Sends a signal to the process group, as a terminal does, after the first confirmed write, and
 * repeats it `times` times.
 */
function interrupt(signal: NodeJS.Signals, times: number) {
  let sent = 0
  return real.run(['apply', '--yes', '--allow', 'extend'], undefined, (stderr, child) => {
    if (sent > 0 || !stderr.includes('confirmed')) return
    for (; sent < times; sent++)
      setTimeout(() => process.kill(-(child.pid ?? 0), signal), 20 + 150 * sent)
  })
}

async function statuses(): Promise<string[]> {
  return [...(await real.loadRecorded()).values()].map(
    (items) => items.get('timeout')?.status ?? 'none',
  )
}

async function finished(): Promise<void> {
  const next = await real.run(['apply', '--yes', '--allow', 'extend', '--lock-timeout', '60'])
  expect({ code: next.code, err: next.err }).toMatchObject({ code: 0 })
  expect((await real.run(['plan', '--detailed-exitcode'])).code).toBe(0)
}

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s finishes and records writes in flight, and exits with %d', async (signal, code) => {
  const ended = await interrupt(signal, 1)
  expect(ended).toMatchObject({
    code,
    out: expect.stringMatching(
      /^Interrupted: \d of 9 writes confirmed, \d never sent; "edgewise apply" sends/m,
    ) as string,
    err: expect.not.stringContaining('not sent') as string,
  })
  expect({ statuses: await statuses(), err: ended.err }).toMatchObject({
    statuses: expect.not.arrayContaining(['in-doubt']) as string[],
  })
  const actual = (
    await real.look<{ domains: Record<string, { timeout: { time: string } }> }>('state')
  ).domains
  for (const [domain, items] of await real.loadRecorded())
    expect(items.get('timeout')?.candidates).toEqual([actual[domain]?.timeout])
  const { out } = await real.run(['state', 'history', '--json'])
  expect(JSON.parse(out)).toMatchObject({
    applies: expect.arrayContaining([
      expect.objectContaining({ outcome: 'interrupted' }),
    ]) as object[],
  })
  await finished()
})

it('a second signal exits immediately, with writes in flight in-doubt', async () => {
  const ended = await interrupt('SIGINT', 2)
  expect(ended.code).toBe(130)
  expect(await statuses()).toContain('in-doubt')
  await finished()
})
