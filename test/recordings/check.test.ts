import { expect, it } from 'vitest'
import { itLong } from '../runs.ts'
import { compareLines, parseRecordings } from './check.ts'
import { groups } from './list-workspaces.ts'

const recorded = parseRecordings(`# head
one domain
 0 a1 - - - plan
 0 b1 - - - plan --json
 0 c1 - d1 - apply
 0 a2 - - - plan
 0 e1 - - - drift
`).get('one domain')
const lines = recorded ?? []
const change = (i: number, values: string[]) =>
  lines.map((line, j) => (i === j ? { ...line, values } : line))

it('the same commands have no differences', () => {
  expect(lines.map(({ command }) => command)).toEqual([
    'plan',
    'plan --json',
    'apply',
    'plan',
    'drift',
  ])
  expect(compareLines('one domain', recorded, lines)).toEqual([])
})

it.each([
  [change(0, ['0', 'a9', '-', '-', '-']), 'one domain: plan: stdout'],
  [change(1, ['0', 'b9', '-', '-', '-']), 'one domain: plan --json: JSON'],
  [change(2, ['3', 'c1', 'e9', 'd9', '-']), 'one domain: apply: exit code 0 → 3, stderr, calls'],
  [change(3, ['0', 'a2', '-', '-', 'f9']), 'one domain: plan (2): files'],
  [lines.slice(0, -1), 'one domain: drift: not run any more'],
  [[...lines, { command: 'fmt', values: ['0'] }], 'one domain: fmt: not recorded'],
])('a difference is named by workspace, command and what differs: %#', (after, difference) => {
  expect(compareLines('one domain', recorded, after)).toEqual([difference])
})

it('a workspace without a recording is a difference', () => {
  expect(compareLines('two domains', undefined, lines)).toEqual(['two domains: not recorded'])
})

itLong('at least 300 workspaces are recorded, each by a name of its own', () => {
  const names = Object.values(groups).flatMap((build) => build().map(({ name }) => name))
  expect(names.length).toBeGreaterThanOrEqual(300)
  expect(new Set(names).size).toBe(names.length)
})
