import { describe, expect, it } from 'vitest'
import type { ApplyEvent } from '../../src/core/model/events.ts'
import { EventLines, formatPart } from '../../src/outlets/report/apply/event-text.ts'
import { measureWidth } from '../../src/outlets/report/text/display-width.ts'
import { plainPaint } from '../../src/outlets/report/text/paint.ts'

const time = '2026-03-01T00:00:00.000Z'
const none = { confirmed: 0, refused: 0, inDoubt: 0, notSent: 0 }
const finished: ApplyEvent = {
  type: 'apply.finished',
  time,
  apply: 'x',
  stopped: null,
  parts: none,
  ...none,
}
const domains = ['css', 'img', 'js', 'www'].map((name) => `${name}.example.com`)
const listed = '4 domains (css.example.com, img.example.com, …)'
const parts = new Map(
  Array.from({ length: 500 }, (_, i) => [i + 1, { domains, items: ['https'] }] as const),
)
const notSent = (id: number, message: string): ApplyEvent => ({
  type: 'write.not-sent',
  time,
  id,
  message,
})

function format(events: ApplyEvent[], columns = Infinity): string[] {
  const lines = new EventLines(parts, plainPaint, columns)
  return [...events.flatMap((event) => lines.format(event)), ...lines.end()]
}

describe('the line of a write', () => {
  it('names its items and domains', () => {
    const about = { time, id: 1 }
    const isolated = { ...about, domains: ['img.example.com'], items: ['https'] }
    expect(
      format([
        { type: 'write.confirmed', ...about },
        { type: 'write.refused', ...about, code: 7, message: 'no' },
        { type: 'write.in-doubt', ...about, domains, items: ['https'], message: 'reset' },
        notSent(2, 'gone'),
        { type: 'write.isolating', ...isolated },
        { type: 'part.confirmed', ...isolated },
        { type: 'part.refused', ...isolated, file: null, line: null, code: 7, message: 'bad' },
        finished,
      ]),
    ).toEqual([
      `confirmed  write 1 of 500  https on ${listed}`,
      `refused    write 1 of 500  https on ${listed}: no`,
      `in-doubt   write 1 of 500  https on ${listed}: reset`,
      'bisecting  write 1 of 500  https on img.example.com',
      'confirmed  part of write 1  https on img.example.com',
      'refused    part of write 1  https on img.example.com: bad',
      `not sent   write 2 of 500  https on ${listed}: gone`,
    ])
  })

  it.each([
    [90, 'https on 4 domains (css.example.com, img.example.com, …)'],
    [80, 'https on 4 domains (css.example.com, …)'],
    [63, 'https on 4 domains (css.examp…, …)'],
    [50, 'https on 4 domains'],
  ])('fits on %i columns', (columns, text) => {
    const [line = ''] = format([{ type: 'write.confirmed', time, id: 1 }], columns)
    expect(line).toBe(`confirmed  write 1 of 500  ${text}`)
    expect(measureWidth(line)).toBeLessThan(columns)
  })

  it('counts the items that do not fit', () => {
    const items = ['cache_rule_list', 'https', 'origin', 'referer', 'timeout']
    expect(formatPart({ domains, items }, Infinity)).toBe(
      `cache_rule_list, https, origin and 2 more on ${listed}`,
    )
    expect(formatPart({ domains, items }, 25)).toBe('5 items on 4 domains')
    expect(formatPart({ domains: ['a\u0007.example.com'], items }, 25)).toBe(
      '5 items on a\\u{7}.example.com',
    )
  })
})

describe('writes that were not sent', () => {
  it('are one line for each reason', () => {
    const many = Array.from({ length: 412 }, (_, i) => notSent(i + 3, 'the token is wrong'))
    const refused: ApplyEvent = {
      type: 'write.refused',
      time,
      id: 1,
      code: 401,
      message: 'the token is wrong',
    }
    expect(format([refused, ...many, notSent(2, 'gone'), finished], 50).slice(1)).toEqual([
      'not sent   412 writes: for the same reason',
      'not sent   write 2 of 500  https on 4 domains: gone',
    ])
  })

  it('are counted in the last line only if an interrupt is the reason', () => {
    const many = Array.from({ length: 412 }, (_, i) => ({
      ...(notSent(i + 1, 'interrupted') as object),
      reason: 'interrupted',
    })) as ApplyEvent[]
    expect(format([...many, finished])).toEqual([])
  })

  it('are counted if nothing differs', () => {
    const many = Array.from({ length: 9 }, (_, i) => ({
      ...(notSent(i + 1, 'as recorded') as object),
      reason: 'unchanged',
    })) as ApplyEvent[]
    expect(format([...many, finished])).toEqual(['unchanged, not sent  9 writes'])
  })

  it('are printed if the apply ends with an error', () => {
    expect(format([notSent(1, 'gone')])).toHaveLength(1)
  })
})

it('the writes of a rollback have numbers of their own', () => {
  expect(
    format([
      { type: 'rollout.taking-back', time, apply: 'x', reason: 'worse', writes: 2 },
      { type: 'write.started', time, id: 1, domains: ['www.example.com'], items: ['origin'] },
      { type: 'write.confirmed', time, id: 1 },
      notSent(2, 'gone'),
    ]).slice(1),
  ).toEqual(['confirmed  write 1 of 2  origin on www.example.com', 'not sent   write 2 of 2: gone'])
})

it('the reason of a wait is repeated, since a terminal has no line of the wait', () => {
  const wait: ApplyEvent = { type: 'write.waiting', time, id: 1, seconds: 4, message: 'no answer' }
  expect(format([wait, notSent(1, 'no answer'), finished]).at(-1)).toMatch(/: no answer$/)
})

it('a wait of several writes is one line with its end', () => {
  const wait = (id: number): ApplyEvent => ({
    type: 'write.waiting',
    time,
    id,
    seconds: 12,
    message: 'slow down',
  })
  expect(format([wait(1), wait(2)])).toEqual([
    expect.stringMatching(
      /^waiting 12 s before write 1 and maybe others, until \d\d:\d\d:12: slow down$/,
    ),
  ])
})
