import { describe, expect, it } from 'vitest'
import type { ApplyEvent } from '../../src/core/model/events.ts'
import { formatApplyMarkdown, type ApplyReport } from '../../src/outlets/report/apply/markdown.ts'
import { buildChange, buildPlan, buildWrite } from '../plans.ts'
import { fc, itOften, runs } from '../runs.ts'

const time = '2026-03-01T00:00:00.000Z'
const plan = buildPlan(
  ['a', 'b', 'c', 'd'].map((name) => buildChange({ domain: `${name}.example.com` })),
)
const about = (id: number) => ({
  time,
  id,
  domains: [`${'-abcd'[id] ?? ''}.example.com`],
  items: ['timeout'],
})
const started = (id: number): ApplyEvent => ({ type: 'write.started', ...about(id) })
const counts = { confirmed: 1, refused: 1, inDoubt: 1, notSent: 1 }
const finished: ApplyEvent = {
  type: 'apply.finished',
  time,
  apply: 'x',
  stopped: null,
  parts: counts,
  ...counts,
}
const refusal = (message: string): ApplyEvent[] => [
  { type: 'write.refused', time, id: 2, code: 7, message },
  { type: 'part.refused', ...about(2), file: 'domains/b.yaml', line: 7, code: 7, message },
]
const mixed = (message: string): ApplyReport => ({
  plan,
  events: [
    started(1),
    { type: 'write.confirmed', time, id: 1 },
    started(2),
    ...refusal(message),
    started(3),
    { type: 'write.in-doubt', ...about(3), message },
    { type: 'write.not-sent', time, id: 4, message },
    { ...finished, stopped: message },
  ],
  status: 'incomplete',
  problem: null,
})

/** Returns the text of a section. */
const section = (text: string, title: string) =>
  new RegExp(`^#### ${title}.*\\n\\n([\\s\\S]*?)(?=\\n####|\\n<details|$(?![\\s\\S]))`, 'm').exec(
    text,
  )?.[1]

describe('the report of an apply', () => {
  it('names everything that was not confirmed, with domains, items and reasons', () => {
    const text = formatApplyMarkdown(mixed('bad value'))
    expect(text).toMatch(/^### Edgewise apply\n\nNot everything was applied; writes: 1 confirmed, /)
    expect(section(text, 'Refused')).toBe(
      '```text\nwrite 2: timeout of b.example.com (domains/b.yaml:7)\n    bad value\n```\n',
    )
    expect(section(text, 'In-doubt')).toBe(
      '```text\nwrite 3: timeout of c.example.com\n    bad value\n```\n',
    )
    expect(section(text, 'Not sent')).toBe(
      '```text\nwrite 4: timeout of d.example.com\n    bad value\n```\n',
    )
    expect(text).toContain('Stopped: bad value\n')
    expect(section(text, 'Planned')).toContain('Plan: 4 to set')
    for (const line of ['confirmed  1  a', 'refused    2  b', 'in-doubt   3  c', 'not sent   4  d'])
      expect(text).toContain(`${line}.example.com: timeout\n`)
  })

  it('of an apply without failures has the result and the plan only', () => {
    const all = { confirmed: 4, refused: 0, inDoubt: 0, notSent: 0 }
    const events = [1, 2, 3, 4].flatMap((id): ApplyEvent[] => [
      started(id),
      { type: 'write.confirmed', time, id },
    ])
    const text = formatApplyMarkdown({
      plan,
      events: [...events, { ...finished, ...all, parts: all }],
      status: 'done',
      problem: null,
    })
    expect(text).toMatch(/^### Edgewise apply\n\nApplied; writes: 4 confirmed\.\n\n#### Planned/)
    expect(text.match(/^####.*/gm)).toEqual(['#### Planned'])
  })

  it('lists a bisected write by its refused parts, a whole refused call by its write', () => {
    const { events } = mixed('no access')
    const whole = events.filter(({ type }) => type !== 'part.refused')
    expect(section(formatApplyMarkdown({ ...mixed(''), events: whole }), 'Refused')).toContain(
      'write 2: timeout of b.example.com\n    no access',
    )
    const bisected: ApplyEvent[] = [
      { type: 'write.refused', time, id: 2, code: 7, message: 'whole' },
      { type: 'write.isolating', ...about(2) },
      { type: 'part.confirmed', ...about(2) },
      { type: 'part.refused', ...about(2), file: null, line: null, code: 7, message: 'part' },
    ]
    const text = formatApplyMarkdown({ ...mixed(''), events: bisected })
    expect(section(text, 'Refused')).toBe(
      '```text\nwrite 2: timeout of b.example.com\n    part\n```\n',
    )
    expect(text).toContain('refused in part  2  b.example.com')
  })

  it('lists the rest of a bisection that was interrupted as refused', () => {
    const domains = ['b.example.com', 'c.example.com', 'd.example.com']
    const whole = { ...about(2), domains, items: ['origin', 'timeout'] }
    const part = (domain: string, items: string[]) => ({ ...about(2), domains: [domain], items })
    const text = formatApplyMarkdown({
      ...mixed(''),
      events: [
        { type: 'write.started', ...whole },
        { type: 'write.refused', time, id: 2, code: 7, message: 'bad value' },
        { type: 'write.isolating', ...part('b.example.com', ['timeout']) },
        { type: 'part.confirmed', ...part('b.example.com', ['timeout']) },
        { type: 'write.in-doubt', ...part('b.example.com', ['origin']), message: 'reset' },
      ],
    })
    expect(section(text, 'Refused')).toBe(
      '```text\nwrite 2: origin, timeout of c.example.com, d.example.com\n    bad value\n```\n',
    )
    expect(section(text, 'In-doubt')).toContain('write 2: origin of b.example.com\n    reset')
  })

  it('lists planned writes without an event as not begun', () => {
    const text = formatApplyMarkdown({ ...mixed('x'), events: [finished] })
    expect(section(text, 'Not sent')).toBe('```text\n4 writes\n    it was not begun\n```\n')
    const few = formatApplyMarkdown({
      ...mixed('x'),
      events: [{ type: 'write.confirmed', time, id: 3 }, finished],
    })
    expect(section(few, 'Not sent')).toContain(
      'write 1: timeout of a.example.com\n    it was not begun\nwrite 2',
    )
  })

  it('counts the writes that an interrupt kept from being sent', () => {
    const writes = Array.from({ length: 412 }, (_, i) => buildWrite({ id: i + 1 }))
    const events = writes.map(({ id }): ApplyEvent => {
      return { type: 'write.not-sent', time, id, message: 'interrupted', reason: 'interrupted' }
    })
    const end = { ...finished, confirmed: 0, refused: 0, inDoubt: 0, notSent: 412 }
    const text = formatApplyMarkdown({
      plan: { ...plan, writes },
      events: [...events, { ...end, stopped: 'interrupted', interrupted: 'writes' }],
      status: 'incomplete',
      problem: null,
    })
    expect(text).toContain('Interrupted: 0 of 412 writes confirmed, 412 never sent.\n')
    expect(section(text, 'Not sent')).toBe('```text\n412 writes\n    interrupted\n```\n')
  })

  it('lists the writes of a rollback apart: they have numbers of their own', () => {
    const back: ApplyEvent = {
      type: 'rollout.taking-back',
      time,
      apply: 'x',
      reason: 'worse',
      writes: 1,
    }
    const lost: ApplyEvent = { type: 'write.in-doubt', ...about(1), message: 'reset' }
    const end = { ...finished, takenBack: false, stopped: 'worse; not all was rolled back' }
    const text = formatApplyMarkdown({
      ...mixed('x'),
      events: [{ type: 'write.confirmed', time, id: 1 }, back, started(1), lost, end],
    })
    expect(section(text, 'In-doubt')).toBe(
      '```text\nrollback, write 1: timeout of a.example.com\n    reset\n```\n',
    )
    expect(text).toContain('Not everything was rolled back; writes: ')
    expect(text).toContain('confirmed  1  a.example.com')
  })

  it.each<[ApplyReport['status'], ApplyEvent[], string]>([
    ['running', [], 'The apply has not ended: it still runs, or it was killed.'],
    ['failed', [], 'Nothing was applied.'],
    ['failed', [started(1)], 'The apply ended with an error.'],
  ])('of an apply that is %s with the events %j', (status, events, result) => {
    const problem = status === 'failed' ? 'the plan is stale' : null
    const text = formatApplyMarkdown({ plan: null, events, status, problem })
    const rest = problem === null ? '' : '\n```text\nthe plan is stale\n```\n'
    expect(text).toBe(`### Edgewise apply\n\n${result}\n${rest}`)
  })

  it('has foreign text in code fences only', () => {
    const hostile = '```\n# @all <img src=x> [x](https://evil.example) ::error::\u202e'
    const text = formatApplyMarkdown({ ...mixed(hostile), problem: hostile })
    const outside = text.replace(/^(`{3,})text\n[\s\S]*?\n\1$/gm, '')
    expect(outside).not.toMatch(/@all|<img|evil|::error/)
    expect(text).toContain('@all')
    expect(text).not.toContain('\u202e')
  })

  itOften('never exceeds the limit of a comment, and counts what it omits', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 0, max: 600 }), (n, m) => {
        const events = Array.from({ length: n }, (_, i): ApplyEvent => ({
          type: 'write.in-doubt',
          ...about(1),
          domains: [`d${i}.example.com`],
          message: 'x'.repeat(m),
        }))
        const text = formatApplyMarkdown({ ...mixed('`'.repeat(m)), events })
        expect(text.length).toBeLessThan(65_536)
        const listed = section(text, 'In-doubt')?.match(/^write 1/gm)?.length ?? 0
        const more = /… and ([\d,]+) more/.exec(section(text, 'In-doubt') ?? '')?.[1] ?? '0'
        const omitted = Number(more.replace(',', ''))
        expect(listed + omitted).toBe(n)
      }),
      { numRuns: runs(3, 50) },
    )
  })
})
