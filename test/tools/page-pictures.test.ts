import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { fixTimes, hashPagePicture } from '../../tools/page-pictures.ts'

let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'edgewise-pictures-'))
  for (const name of ['a.png', 'a-dark.png']) writeFileSync(join(root, name), name)
})
afterEach(() => rmSync(root, { recursive: true }))
const hash = (html: string, fragment = '', part = '') =>
  hashPagePicture(root, { path: 'a.png', html, fragment, part })

const page = '<p>20261120T120000Z-9692 at 2026-11-20T12:00:00.123Z of 0123456789ab: 1 write</p>'

it('is the same for another run, and for nothing else', () => {
  const later = '<p>20261121T130000Z-abcd at 2026-11-21T13:00:00Z of ab0123456789: 1 write</p>'
  expect(hash(later)).toBe(hash(page))
  const others = [
    hash(page.replace('1 write', '2 writes')),
    hash(`${page}<style>p { color: red }</style>`),
    hash(page, '#wave=1'),
    hash(page, '', 'p'),
  ]
  expect(new Set([hash(page), ...others]).size).toBe(5)
})

it.each(['a.png', 'a-dark.png'])('notices another %s, and a missing one', (name) => {
  const before = hash(page)
  appendFileSync(join(root, name), 'x')
  expect(hash(page)).not.toBe(before)
  rmSync(join(root, name))
  expect(hash(page)).toBeNull()
})

it('fixes times, and no values', () => {
  expect(fixTimes(page)).toContain('2026-01-05T09:00:00Z of 4f0c2d9e1a7b: 1 write')
  for (const value of ['max-age=31536000', '123456789012', 'abcdefabcdef', '2026-11-20'])
    expect(fixTimes(value)).toBe(value)
})
