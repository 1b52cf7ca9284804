import { expect, it } from 'vitest'
import { parseUrl } from '../../src/core/model/text/url.ts'

it('a valid URL stays valid, however often it is parsed', () => {
  let parsed = 0
  for (let i = 0; i < 10_000; i++) if (parseUrl('https://Bücher.example/ü') !== null) parsed++
  expect(parsed).toBe(10_000)
  expect(parseUrl('bücher')).toBeNull()
})
