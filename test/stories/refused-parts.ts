import { expect } from 'vitest'
import type { ApplyEvent } from '../../src/core/model/events.ts'
import type { Ended, RealRuns } from '../long/real-runs.ts'

const limits = 'limits: {callsPerMinute: 10000}\ngrouping: {groups: all}'

/** The item of the domain that the emulator refuses in {@link isolateCombination}. */
export const refused = { domain: 'd2.example.com', item: 'timeout' }
/** The only domain of {@link leaveOutUnknown} that the emulator does not know. */
export const unknown = 'gone.example.com'
export const knownDomains = Array.from({ length: 7 }, (_, i) => `d${i}.example.com`)

const parseEvents = ({ out }: Ended): ApplyEvent[] =>
  out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as ApplyEvent)

/** Applies four domains × three items, one of which one domain refuses: all else is applied. */
export async function isolateCombination(real: RealRuns, state: string): Promise<void> {
  real.workspace(`${limits}\n${state}`)
  const config = {
    timeout: { time: '11' },
    connect_timeout: { origin_connect_timeout: '12' },
    range_back_source: 'on',
  }
  const domains = knownDomains.slice(0, 4)
  for (const domain of domains) real.manifest(domain, config)
  const applied = await real.run(['apply', '--yes', '--json'])
  expect([applied.code, applied.err]).toEqual([3, expect.stringContaining('refused:')])
  const events = parseEvents(applied)
  expect(events.filter(({ type }) => type === 'part.refused')).toMatchObject([
    { domains: [refused.domain], items: [refused.item], file: `domains/${refused.domain}.yaml` },
  ])
  const parts = { confirmed: 11, refused: 1, inDoubt: 0, notSent: 0 }
  expect(events.at(-1)).toMatchObject({ type: 'apply.finished', refused: 1, parts })
  expect(await real.look<unknown[]>('calls')).toHaveLength(
    1 + events.filter(({ type }) => type === 'write.isolating').length,
  )
  const { domains: live } = await real.look<{ domains: Record<string, object> }>('state')
  const { timeout: _, ...rest } = config
  for (const domain of domains)
    expect([domain, live[domain]]).toEqual([domain, domain === refused.domain ? rest : config])
  const recorded = await real.loadRecorded(state !== '')
  for (const domain of domains)
    for (const item of Object.keys(config)) {
      const status = recorded.get(domain)?.get(item)?.status
      const isRefused = domain === refused.domain && item === refused.item
      expect([domain, item, status]).toEqual([domain, item, isRefused ? undefined : 'confirmed'])
    }
  const plan = JSON.parse((await real.run(['plan', '--json'])).out) as { changes: object[] }
  expect(plan.changes).toMatchObject([refused])
}

/** Applies many writes with an unknown domain: it is named once, and left out of the later ones. */
export async function leaveOutUnknown(real: RealRuns, state: string): Promise<void> {
  real.workspace(`${limits}\n${state}`)
  for (const [i, domain] of [...knownDomains, unknown].entries())
    real.manifest(domain, {
      timeout: { time: String(10 + (i % 2)) },
      connect_timeout: { origin_connect_timeout: String(10 + (Math.floor(i / 2) % 2)) },
      post_upload_size_limit: { limit_value: 10 + Math.floor(i / 4) },
    })
  const applied = await real.run(['apply', '--yes'])
  expect([applied.code, applied.err]).toEqual([3, expect.stringContaining('left out of all')])
  expect(applied.err.match(/domain\(gone\.example\.com\) is invalid; /g)).toHaveLength(1)
  const calls = await real.look<{ domains: string[]; code: number }[]>('calls')
  const alone = calls.findIndex(({ domains }) => domains.join() === unknown)
  const later = calls.slice(alone + 1)
  expect([calls[alone]?.code, later.length >= 3]).toEqual([400_101, true])
  expect(later.filter(({ domains }) => domains.includes(unknown))).toEqual([])
  expect(calls.filter(({ code }) => code !== 0)).toHaveLength(2)
  expect(applied.out).toMatch(/items of domains: 21 confirmed, 1 refused, 2 not sent/)
  const recorded = await real.loadRecorded(state !== '')
  expect([...recorded.keys()].toSorted()).toEqual(knownDomains)

  const again = await real.run(['apply', '--yes', '--json'])
  expect(again.code).toBe(3)
  const events = parseEvents(again)
  const parts = events.flatMap((event) =>
    event.type === 'part.refused' || event.type === 'part.not-sent' ? [event.domains] : [],
  )
  const whole = events.filter((event) => event.type === 'write.not-sent')
  expect(parts.every((domains) => domains.join() === unknown)).toBe(true)
  expect(whole.every(({ reason }) => reason === 'left-out')).toBe(true)
  expect(events.at(-1)).toMatchObject({ parts: { confirmed: 0, inDoubt: 0 } })
}
