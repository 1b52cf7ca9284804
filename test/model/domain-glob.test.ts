import picomatch from 'picomatch'
import { expect, it } from 'vitest'
import { compileDomainGlob, findGlobFault } from '../../src/core/model/text/domain-glob.ts'
import { fc, itOften, runs } from '../runs.ts'

const long = `${'a'.repeat(63)}.${'a'.repeat(63)}.${'a'.repeat(63)}.${'a'.repeat(57)}.com`

it.each([
  ['*', 'www.example.com', true],
  ['*.example.com', 'www.example.com', true],
  ['*.example.com', 'example.com', false],
  ['WWW.*', 'www.example.com', true],
  ['{www,api}.example.com', 'api.example.com', true],
  ['{a,b{c,d}}.e.io', 'bd.e.io', true],
  ['@(www|api).example.com', 'api.example.com', true],
  ['www?.example.com', 'www1.example.com', true],
  ['www[12].example.com', 'www3.example.com', false],
  ['www[^12].example.com', 'www3.example.com', true],
  ['!*.example.com', 'www.example.com', false],
  ['!*.example.com', 'www.example.net', true],
  ['a*b*a', 'aba', true],
  ['a*a', 'a', false],
])('the glob %s and the domain %s: %s', (glob, domain, matches) => {
  expect(compileDomainGlob(glob)(domain)).toBe(matches)
  expect(picomatch(glob, { nocase: true, dot: true })(domain)).toBe(matches)
})

const part = fc.constantFrom('a', 'b', '.', '-', '*', '?', '[ab]', '[^a]', '{a,b}', '{a*,b.}', '**')

itOften('a glob matches what picomatch matches', () => {
  const name = fc.array(fc.constantFrom('a', 'b', '.', '-'), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 7 }), name, (parts, letters) => {
      const [glob, domain] = [parts.join(''), `x${letters.join('')}`]
      const expected = picomatch(`x${glob}`, { nocase: true, dot: true })(domain)
      expect(compileDomainGlob(`x${glob}`)(domain)).toBe(expected)
    }),
    { numRuns: runs(300, 30_000) },
  )
})

it.each([
  '*a'.repeat(400) + 'b',
  '+(a*)x',
  '*(a|aa)x',
  '{a*,a*}'.repeat(9) + 'x',
  '[ab]*'.repeat(150),
])('matching takes no longer for the glob %.20s', (glob) => {
  const started = process.cpuUsage()
  const matches = compileDomainGlob(glob)
  for (let i = 0; i < 20; i++) matches(long)
  expect(process.cpuUsage(started).user / 1000).toBeLessThan(500)
})

it.each([
  '+(a)',
  '*(a|b)',
  '!(www).example.com',
  '?(a)b',
  '{a',
  '[]',
  '[!a]',
  '{a,b}'.repeat(11),
  'a|b',
])('the glob %s has a fault', (glob) => expect(findGlobFault(glob)).not.toBeNull())
