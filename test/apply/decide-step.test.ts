import { expect, it } from 'vitest'
import { decideStep, type Attempts } from '../../src/engine/apply/send-write.ts'
import type { Write } from '../../src/core/model/change.ts'
import type { Outcome } from '../../src/core/model/outcome.ts'

const none: Attempts = { unreached: 0, inDoubt: 0, throttled: 0, doubt: null }
const limits = {
  maxWaitMs: 60_000,
  settleMs: 5000,
  backOff: (count: number) => 1000 * count,
  unreportedMs: () => null,
  usedUp: () => null,
}
const inDoubt = { kind: 'in-doubt', message: 'no answer' } as const
const full = {
  kind: 'refused',
  message: 'too many',
  status: 400,
  code: 1,
  fatal: false,
  limits: { remaining: 0, resetMs: 30_000 },
} as unknown as Outcome

const buildWrite = (form: 'replace' | 'append', ...domains: string[]): Write => ({
  id: 1,
  wave: 1,
  domains,
  items: { timeout: { name: form, payload: {} } },
})

const decide = (
  outcome: Outcome,
  before: Partial<Attempts> = {},
  write = buildWrite('replace', 'a'),
) => decideStep(write, outcome, { ...none, ...before }, limits)

it('a call that did not reach the service is sent five times', () => {
  const outcome = { kind: 'not sent', message: 'refused' } as const
  expect(decide(outcome, { unreached: 3 })).toMatchObject({
    waitMs: 4000,
    why: 'refused',
    attempts: { unreached: 4 },
  })
  expect(decide(outcome, { unreached: 4 })).toEqual({ sent: { outcome, doubted: false } })
  expect(decide(outcome, { unreached: 4, doubt: inDoubt })).toEqual({
    sent: { outcome: inDoubt, doubted: true },
  })
})

it('a call in-doubt is repeated after it has settled, if that is safe', () => {
  expect(decide(inDoubt)).toMatchObject({ waitMs: 5000, attempts: { inDoubt: 1, doubt: inDoubt } })
  const ended = { sent: { outcome: inDoubt, doubted: true } }
  expect(decide(inDoubt, { inDoubt: 2 })).toEqual(ended)
  expect(decide(inDoubt, {}, buildWrite('append', 'a'))).toEqual(ended)
})

it('a throttled call waits as long as the service says, within the limit', () => {
  const throttled = (retryAfterMs: number | null) =>
    ({ kind: 'throttled', message: 'slow down', retryAfterMs }) as unknown as Outcome
  expect(decide(throttled(20_000))).toMatchObject({ waitMs: 20_000, attempts: { throttled: 1 } })
  expect(decide(throttled(null), { throttled: 2 })).toMatchObject({ waitMs: 3000 })
  expect(decide(throttled(60_001))).toMatchObject({
    sent: { outcome: { kind: 'not sent', message: expect.stringContaining('maxWaitSeconds') } },
  })
  expect(decide(throttled(1), { throttled: 9 })).toHaveProperty('sent')
})

it('a refusal without calls left is tried once more; some of several domains may be saved', () => {
  expect(decide(full)).toMatchObject({ waitMs: 30_000, attempts: { throttled: 1, doubt: null } })
  expect(decide(full, {}, buildWrite('replace', 'a', 'b'))).toMatchObject({
    attempts: { doubt: { kind: 'in-doubt' } },
  })
  expect(decide(full, { throttled: 1 })).toEqual({ sent: { outcome: full, doubted: false } })
})
