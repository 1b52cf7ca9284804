import { isIP } from 'node:net'
import { expect, it } from 'vitest'
import { findIpVersion } from '../../src/core/catalog/value/ip-version.ts'
import { fc, itOften, runs } from '../runs.ts'

it.each([
  ['10.0.0.1', 4],
  ['010.0.0.1', 0],
  ['::', 6],
  ['::ffff:10.0.0.1', 6],
  ['fe80::1%eth0', 6],
  ['10.0.0.1:80', 0],
  ['www.example.com', 0],
  ['', 0],
])('the version of %j is %i', (text, version) => {
  expect(findIpVersion(text)).toBe(version)
})

itOften('the version is that of net.isIP', () => {
  const part = fc.constantFrom('0', '1', '255', 'ab', '.', ':', '::', '%', '/')
  const text = fc.oneof(
    fc.array(part, { maxLength: 9 }).map((parts) => parts.join('')),
    fc.ipV6(),
  )
  fc.assert(
    fc.property(text, (each) => findIpVersion(each) === isIP(each)),
    { numRuns: runs(100, 10_000) },
  )
})
