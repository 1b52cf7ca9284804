import { expect, it } from 'vitest'
import type { Delta } from '../../src/core/effects/compare.ts'
import { formatWitnesses } from '../../src/outlets/report/effects/witnesses-text.ts'
import type { ChangeWitness } from '../../src/outlets/report/effects/witnesses.ts'
import { plainPaint } from '../../src/outlets/report/text/paint.ts'

const change: ChangeWitness = {
  item: 'timeout',
  action: 'set',
  domains: ['www.example.com'],
  isFirst: false,
  witness: { kind: 'not-found', tried: 20, reasons: [] },
}

/** Formats witnesses where nothing is a terminal. */
function format(changes: ChangeWitness[], verbose = false): string {
  const options = { paint: plainPaint, columns: Infinity, verbose }
  return formatWitnesses({ changes, omitted: 0 }, options)
}

const first = { ...change, isFirst: true }

it('items that are set for the first time are counted once', () => {
  expect(format([first, { ...first, item: 'referer' }, first])).toBe(
    'What each change does\n3 items are set for the first time (-v shows what each does)',
  )
  expect(format([first])).toContain('1 item is set for the first time (-v shows what it does)')
  expect(format([first, { ...change, item: 'referer' }])).toMatch(
    /^1 item is set for the first time .*\n\+ referer {3}www\.example\.com\n/m,
  )
  expect(format([first], true)).toMatch(/^\+ timeout {3}www\.example\.com\n {4}no request found/m)
})

it.each([
  [20, [], 'no request found in 20 tries: none of them shows a difference'],
  [1, [], 'no request found in 1 try: none of them shows a difference'],
  [0, ['unmanaged referer'], 'no request found in 0 tries: not set by any manifest: referer'],
  [3, ['pattern too long'], 'no request found in 3 tries: pattern too long'],
])('no request is found in %s tries for %j', (tried, reasons, text) => {
  const witness = { kind: 'not-found' as const, tried, reasons }
  expect(format([{ ...change, witness }])).toContain(`\n    ${text}`)
})

it('has lines of at most 80 columns, and times in words', () => {
  const delta = (field: string, before: number, after: number) =>
    ({
      field,
      class: 'content',
      verdict: 'differs',
      before: { value: before },
      after: { value: after },
      rules: [],
    }) as unknown as Delta & { rules: [] }
  const witness: ChangeWitness['witness'] = {
    kind: 'request',
    request: { url: `https://www.example.com/${'a/'.repeat(100)}` },
    class: 'content',
    deltas: [delta('cache.seconds', 300, 2_592_000)],
  }
  const text = format([{ ...change, witness }])
  expect(text).toContain('cache.seconds 5 minutes → 30 days')
  expect(text.split('\n').filter((line) => line.length > 80)).toEqual([])
})
