import { isIP, isIPv4 } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createHash } from '../../src/outlets/page/effects/node-crypto.ts'
import * as shim from '../../src/outlets/page/effects/node-net.ts'
import { createTrial } from '../../src/outlets/page/effects/try-request.ts'
import { packSides } from '../../src/outlets/report/effects/pack-sides.ts'
import { buildChangedSides } from '../report/page/effects-page.ts'
import { fc, itLong } from '../runs.ts'

const packed = packSides(buildChangedSides())
const attempt = createTrial(packed)
const blank = { url: 'https://www.example.com/', method: '', ip: '', headers: '' }

describe('a request that is tried', () => {
  it('is told in sentences, before and after, and has the answers that change', () => {
    const tried = attempt({ ...blank, method: 'get', headers: 'Referer: https://foe.example/\n*' })
    expect(tried).toMatchObject({
      said: {
        before: expect.stringMatching(/^Served\. .* Fetched from 192\.0\.2\.10 over https\./),
        after: 'Denied with 403 by referer: no entry matches.',
      },
    })
    const answers = 'answers' in tried ? tried.answers : []
    expect(answers).toContainEqual(
      expect.objectContaining({ field: 'cache.policy', class: 'content', after: 'not served' }),
    )
  })

  it('has reasons for what is not known', () => {
    const open = createTrial({ ...packed, unmanaged: ['referer'] })
    const before = 'Whether it is served is unknown: not set by any manifest: referer.'
    const said = {
      before: expect.stringContaining(before),
      after: expect.stringMatching(/^Served\./),
    }
    expect(open(blank)).toMatchObject({ said })
  })

  it('may have no change', () => {
    const same = packed.domains.map(([domain, , after]): [string, number, number] => [
      domain,
      after,
      after,
    ])
    const tried = createTrial({ ...packed, domains: same })({ ...blank, headers: 'referer' })
    const served = expect.stringMatching(/^Served\./) as unknown
    expect(tried).toEqual({ said: { before: served, after: served }, answers: [] })
    expect('said' in tried && tried.said.before === tried.said.after).toBe(true)
  })

  it('may have repeated headers', () => {
    const headers = 'referer: https://foe.example/\nREFERER: x\n\n'
    expect(attempt({ ...blank, headers })).not.toHaveProperty('fault')
  })

  it.each([
    [
      { url: '' },
      'This is no request: the URL must begin with http:// or https:// and a host: "".',
    ],
    [{ url: 'https://a.b\u202e/' }, 'the URL'],
    [{ ip: '1.2.3' }, 'This is no request: ip must be an IPv4 or IPv6 address.'],
    [{ method: 'a b' }, 'This is no request: method must be a method.'],
    [{ headers: 'a b: c' }, 'This is no request: headers has an invalid name: "a b".'],
    [{ headers: '__proto__: c' }, null],
    [{ url: 'https://other.example/' }, 'The plan does not change other.example.'],
  ])('%j gets a sentence', (given, sentence) => {
    const tried = attempt({ ...blank, ...given })
    if (sentence === null) expect(tried).not.toHaveProperty('fault')
    else expect(tried).toHaveProperty('fault', expect.stringContaining(sentence))
  })

  it('may be of a domain that did not fit', () => {
    const fault = 'This page has the first 1 changed domain of 3, and b.example is not one of them.'
    const few = createTrial({ ...packed, left: 2 })
    expect(few({ ...blank, url: 'https://b.example/' })).toEqual({ fault })
  })
})

describe('what browsers have instead of Node', () => {
  const part = fc.oneof(
    fc.constantFrom('', '0', '1', '00', '255', '256', '::', ':', '.', '%', 'ffff', 'fffff', 'G'),
    fc.constantFrom('1.2.3.4', '::ffff:1.2.3.4', '2001:db8::', ':0:0:0', ' ', ']'),
  )
  const text = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.array(part, { maxLength: 6 }).map((parts) => parts.join('')),
    fc.array(part, { maxLength: 9 }).map((parts) => parts.join(':')),
  )

  itLong('recognizes addresses as Node does', () => {
    fc.assert(
      fc.property(text, (address) => {
        if (address.includes('%')) return
        expect([address, shim.isIP(address)]).toEqual([address, isIP(address)])
        expect(shim.isIPv4(address)).toBe(isIPv4(address))
      }),
      { numRuns: 2000 },
    )
  })

  it('hashes nothing', () => {
    expect(() => createHash('md5')).toThrow('known secret')
  })
})
