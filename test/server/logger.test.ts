import { beforeEach, describe, expect, it } from 'vitest'
import { createLogger, type Logger, type LoggerOptions } from '../../src/server/logger.ts'

let lines: string[]
beforeEach(() => {
  lines = []
})

const clock = { now: () => Date.UTC(2026, 0, 2, 3, 4, 5, 6) }
const create = (options: Partial<LoggerOptions> = {}) =>
  createLogger({
    clock,
    out: (line) => lines.push(line),
    format: 'json',
    level: 'info',
    ...options,
  })
const withHider = (logger: Logger, redact: (text: string) => string) => {
  logger.setSecrets({ scrub: redact, redact })
  return logger
}
const parsed = (): unknown[] => lines.map((line) => JSON.parse(line) as unknown)
const time = '2026-01-02T03:04:05.006Z'

describe('a log of JSON', () => {
  it('has one object a line, with its fields', () => {
    const logger = create()
    logger.info('applied', { writes: 2, ok: true, none: null, list: ['a', { b: 'c' }] })
    logger.error('failed')
    expect(parsed()).toEqual([
      {
        time,
        level: 'info',
        message: 'applied',
        writes: 2,
        ok: true,
        none: null,
        list: ['a', { b: 'c' }],
      },
      { time, level: 'error', message: 'failed' },
    ])
    expect(lines.every((line) => line.endsWith('}\n'))).toBe(true)
  })

  it('has the fields that were set in each line, unless a line has its own', () => {
    const logger = withHider(create(), (text) => text.replaceAll('secret', '***'))
    logger.info('begins')
    logger.setFields({ workspace: 'shop', commit: 'a' })
    logger.setFields({ commit: 'secret' })
    logger.info('applied', { writes: 1 })
    logger.info('a step', { commit: 'c', time: 'x' })
    create({ format: 'text' }).setFields({ commit: 'a' })
    expect(parsed()).toEqual([
      { time, level: 'info', message: 'begins' },
      { time, level: 'info', message: 'applied', workspace: 'shop', commit: '***', writes: 1 },
      { time, level: 'info', message: 'a step', workspace: 'shop', commit: 'c' },
    ])
  })

  it('escapes what could end the line or control a terminal, and keeps the values', () => {
    const hostile = 'a\nb\r\u0000\u001b[31mred\u007f\u009b2J\u2028\u202e\t"\\\ud800é🙂'
    create().warn(hostile, { [hostile]: [hostile] })
    expect(lines).toHaveLength(1)
    expect(lines[0]?.slice(0, -1)).toMatch(/^[\x20-\x7eé🙂]*$/u)
    expect(parsed()).toEqual([{ time, level: 'warn', message: hostile, [hostile]: [hostile] }])
  })

  it('has its own time, level and message, whatever the fields are', () => {
    const fields = JSON.parse('{"time":"x","level":"x","message":"x","__proto__":{"p":1}}')
    create().info('real', fields)
    expect(parsed()).toEqual([
      JSON.parse(`{"time":"${time}","level":"info","message":"real","__proto__":{"p":1}}`),
    ])
  })

  it('cuts long strings, after secrets were removed from them', () => {
    const secret = 'a-secret-of-the-service'
    const scrub = (text: string) => text.replaceAll(secret, '***')
    const long = `${'x'.repeat(8185)}${secret}${'y'.repeat(100_000)}`
    withHider(create(), scrub).info(long, { deep: { list: [long] } })
    expect(lines[0]).not.toContain('a-sec')
    const cut = `${'x'.repeat(8185)}***yyyy…`
    expect(parsed()).toEqual([{ time, level: 'info', message: cut, deep: { list: [cut] } }])
  })

  it('removes secrets by the function that was set last', () => {
    const logger = withHider(create(), (text) => text.replaceAll('first', '***'))
    logger.info('first second')
    withHider(logger, (text) => text.replaceAll('second', '+++'))
    logger.info('first second', { second: 'second', deep: [{ a: 'second' }] })
    withHider(logger, (text) => text.replaceAll('third', '---'))
    logger.error('second third')
    expect(parsed()).toMatchObject([
      { message: '*** second' },
      { message: 'first +++', '+++': '+++', deep: [{ a: '+++' }] },
      { message: 'second ---' },
    ])
  })

  it('removes a secret that JSON would escape', () => {
    const scrub = (text: string) => text.replaceAll('p"w\n1', '***')
    withHider(create(), scrub).info('key p"w\n1', { url: 'https://p"w\n1@example.com' })
    expect(parsed()).toMatchObject([{ message: 'key ***', url: 'https://***@example.com' }])
  })

  it.each([
    ['debug', ['debug', 'info', 'warn', 'error']],
    ['info', ['info', 'warn', 'error']],
    ['warn', ['warn', 'error']],
    ['error', ['error']],
  ] as const)('of level %s leaves the lower ones out', (level, expected) => {
    const logger = create({ level })
    for (const each of ['debug', 'info', 'warn', 'error'] as const) logger[each]('text')
    expect(parsed()).toEqual(expected.map((each) => ({ time, level: each, message: 'text' })))
  })
})

describe('a log of text', () => {
  it('is readable', () => {
    create({ format: 'text' }).info('leads', { term: 7, commit: 'abc', why: 'two words', a: null })
    expect(lines).toEqual([`${time} info  leads term=7 commit=abc why="two words" a=null\n`])
  })

  it('stays on one line, without secrets', () => {
    const scrub = (text: string) => text.replaceAll('hidden', '***')
    const hostile = 'a hidden\n\u001b[31mb\u202e'
    withHider(create({ format: 'text' }), scrub).error(hostile, {
      [hostile]: hostile,
      list: [hostile],
    })
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/^[\x20-\x7e]+\n$/)
    expect(lines[0]).not.toContain('hidden')
    expect(lines[0]).toContain('error a ***\\n\\u{1b}[31mb\\u{202e} ')
  })
})
