import { expect, it } from 'vitest'
import { formatInDoubt } from '../../src/outlets/report/apply/notes-text.ts'

it('groups the items in-doubt, and sorts items and domains', () => {
  const domain = (...items: string[]) =>
    new Map([
      ['origin', { status: 'confirmed' }],
      ...items.map((item): [string, { status: string }] => [item, { status: 'in-doubt' }]),
    ])
  const recorded = new Map([
    ['d.example.com', domain('timeout')],
    ['c.example.com', domain('timeout', 'extend')],
    ['e.example.com', domain('timeout')],
    ['a.example.com', domain('timeout')],
    ['b.example.com', domain('timeout')],
    ['f.example.com', domain()],
  ])
  expect(formatInDoubt(recorded)).toBe(
    'extend of c.example.com; ' +
      'timeout of a.example.com, b.example.com, c.example.com and 2 more',
  )
  expect(formatInDoubt(new Map([['f.example.com', domain()]]))).toBeNull()
})
