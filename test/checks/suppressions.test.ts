import { describe, expect, it } from 'vitest'
import { explainCode } from '../../src/core/checks/levels.ts'
import { type Judging, judge } from '../../src/core/checks/suppressions.ts'
import type { DiagnosticCode } from '../../src/core/model/problem.ts'
import { listMarkedComments } from '../../src/manifest/yaml/marked-comments.ts'
import { createDiagnostic } from '../report/create-diagnostic.ts'
import { itLong } from '../runs.ts'

const path = 'domains/a.yaml'
const list = (text: string) =>
  listMarkedComments({ path, text }).map((each) => [
    each.line,
    each.target,
    each.document,
    each.text,
  ])

/** Judges a finding on a line of a text. */
function judgeText(
  text: string,
  line: number,
  more: Partial<Judging> = {},
  code = 'rule-shadowed',
) {
  const found = createDiagnostic({
    severity: 'warning',
    code: code as DiagnosticCode,
    file: path,
    line,
  })
  const { diagnostics, suppressed } = judge([found], {
    levels: {},
    comments: listMarkedComments({ path, text }),
    now: Date.UTC(2027, 0, 31, 23, 59, 59, 999),
    isComplete: true,
    ...more,
  })
  const codes = diagnostics.map((each) => `${each.line} ${each.severity} ${each.code}`)
  return { codes, details: diagnostics.map(({ detail }) => detail), suppressed }
}

const allow = '# edgewise: allow rule-shadowed until 2027-01-31: agreed'

describe('the comments of a file', () => {
  it('are about their own line, or the first line directly below', () => {
    expect(
      list(
        'config: # edgewise: a\n' +
          '  # edgewise: b\n  #edgewise: c\n  # something else\n  x: 1\n' +
          '  # edgewise: d\n\n  y: 2\n' +
          '  z:\n    # edgewise: e\n    -\n      p: 1\n    - # edgewise: f\n      p: 2\n' +
          '---\n# edgewise: g\nb: 1\n# edgewise: h\n',
      ),
    ).toEqual([
      [1, 1, 0, 'a'],
      [2, 5, 0, 'b'],
      [3, 5, 0, 'c'],
      [6, null, 0, 'd'],
      [10, 12, 0, 'e'],
      [13, 14, 0, 'f'],
      [16, 17, 1, 'g'],
      [18, null, 1, 'h'],
    ])
  })

  it('are neither in texts nor in quotes', () => {
    const text = 'a: |\n  # edgewise: allow x\nb: "# edgewise: y"\nc: x# edgewise: z\n'
    expect(list(text)).toEqual([])
    expect(list('--- # edgewise: a\nb: 1\n---\nc: [1, # edgewise: b\n2]\r\n')).toEqual([
      [1, 1, 0, 'a'],
      [4, 4, 1, 'b'],
    ])
  })

  it('end before a carriage return', () => {
    expect(list('# edgewise: a\r\nb: 1\r\n')).toEqual([[1, 2, 0, 'a']])
  })

  itLong('take linear time', () => {
    const text = `${allow}\n`.repeat(100_000)
    const start = process.cpuUsage()
    expect(judgeText(`${text}a: 1\n`, 100_001).suppressed).toHaveLength(1)
    expect(process.cpuUsage(start).user / 1e6).toBeLessThan(10)
  })
})

describe('judge', () => {
  it('takes out what a comment allows, until the end of its day in UTC', () => {
    const text = `${allow}\na: 1\n`
    const { codes, suppressed } = judgeText(text, 2)
    expect([codes, suppressed]).toMatchObject([[], [{ reason: 'agreed' }]])
    const later = judgeText(text, 2, { now: Date.UTC(2027, 1, 1) })
    expect(later.codes).toEqual(['2 warning rule-shadowed', '1 warning suppression-expired'])
    expect(later.details[1]).toContain('it allowed rule-shadowed until 2027-01-31.')
  })

  it('takes out only findings of the code, on the line', () => {
    const unused = '1 warning suppression-unused'
    expect(judgeText(`${allow}\na: 1\nb: 2\n`, 3).codes).toEqual([
      '3 warning rule-shadowed',
      unused,
    ])
    expect(judgeText(`${allow}\na: 1\n`, 2, {}, 'rule-duplicate').codes).toEqual([
      '2 warning rule-duplicate',
      unused,
    ])
    expect(judgeText(`${allow}\n`, 2).details[1]).toContain('there is no rule-shadowed below it.')
  })

  it('reports no unused comment where findings may be missing', () => {
    const text = `${allow}\n\na: 1\n`
    expect(judgeText(text, 3, { isComplete: false }).codes).toHaveLength(1)
    const error = createDiagnostic({ file: path, line: 9 })
    const judging = { levels: {}, comments: listMarkedComments({ path, text }), now: 0 }
    expect(judge([error], { ...judging, isComplete: true }).diagnostics).toEqual([error])
  })

  it('never allows an error, and never changes one', () => {
    const error = createDiagnostic({ file: path, line: 2, code: 'item-conflict' })
    const text = '# edgewise: allow item-conflict until 2027-01-31: no\na: 1\n'
    const comments = listMarkedComments({ path, text })
    const levels = { 'item-conflict': 'off' } as const
    const judged = judge([error], { levels, comments, now: 0, isComplete: true })
    expect(judged).toEqual({ diagnostics: [error], suppressed: [] })
  })

  it('sets levels, of findings about comments too', () => {
    const levels = { 'rule-shadowed': 'error', 'suppression-unused': 'note' } as const
    expect(judgeText(`${allow}\n\na: 1\n`, 3, { levels }).codes).toEqual([
      '3 error rule-shadowed',
      '1 note suppression-unused',
    ])
    expect(judgeText('a: 1\n', 1, { levels: { 'rule-shadowed': 'off' } }).codes).toEqual([])
    // What a comment allows is allowed at any level, and its comment is needed.
    expect(judgeText(`${allow}\na: 1\n`, 2, { levels }).codes).toEqual([])
    expect(judgeText(`${allow}\na: 1\n`, 2, { levels: { 'rule-shadowed': 'off' } }).codes).toEqual(
      [],
    )
  })

  it.each([
    ['allow rule-shadowed until 2027-01-31:', 'suppression-invalid', 'got no reason'],
    ['allow rule-shadowed until 2027-01-31', 'suppression-invalid', 'got no reason'],
    ['allow rule-shadowed until 2027-02-29: x', 'suppression-invalid', 'no day "2027-02-29"'],
    ['allow rule-shadowed until 2027-13-01: x', 'suppression-invalid', 'no day "2027-13-01"'],
    ['allow rule-shadowed: x', 'suppression-invalid', 'got "allow rule-shadowed: x"'],
    ['alow rule-shadowed until 2027-01-31: x', 'suppression-invalid', 'got "alow rule-'],
    ['', 'suppression-invalid', 'got ""'],
    [`allow ${'x'.repeat(9999)}`, 'suppression-invalid', 'x…"'],
    ['allow rule-shadow until 2027-01-31: x', 'suppression-unknown', 'mean "rule-shadowed"?'],
    ['allow yaml-invalid until 2027-01-31: x', 'suppression-unknown', 'is always an error'],
    ['allow suppression-unused until 2027-01-31: x', 'suppression-unknown', 'Set it under'],
  ])('reports a comment "%s"', (comment, code, part) => {
    const { codes, details } = judgeText(`# edgewise: ${comment}\na: 1\n`, 2)
    expect(codes).toEqual(['2 warning rule-shadowed', `1 warning ${code}`])
    expect(details[1]).toContain(part)
    expect(details[1]?.length).toBeLessThan(200)
  })

  it('reports a comment with a control character', () => {
    const { codes } = judgeText('# edgewise: allow\u001b[2J rule-shadowed\na: 1\n', 2)
    expect(codes).toEqual(['2 warning rule-shadowed', '1 warning suppression-invalid'])
  })
})

it('explains why a code has no level', () => {
  expect(explainCode('rule-shadowed')).toBeNull()
  expect(explainCode('domain-duplicate')).toContain('always an error')
  expect(explainCode('too-many-problems')).toContain('as serious as they are')
  expect(explainCode('item-conflit')).toContain('Did you mean "item-conflict"?')
  expect(explainCode('toString')).toContain('there is no code')
})
