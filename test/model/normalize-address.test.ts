import { describe, expect, it } from 'vitest'
import { normalizeAddress } from '../../src/core/model/text/url.ts'
import { fc } from '../runs.ts'

describe('the normalized address', () => {
  it.each([
    ['https://api.example.net', 'HTTPS://API.Example.NET'],
    ['https://api.example.net', 'https://api.example.net:443'],
    ['http://api.example.net', 'http://api.example.net:80/'],
    ['https://api.example.net', 'https://api.example.net///'],
    ['https://api.example.net', 'https://api.example.net./'],
    ['https://api.example.net/a/c', 'https://api.example.net/a/./b/../c'],
    ['https://api.example.net/a/c', 'https://api.example.net/a/%2E/b/%2e%2E/c/'],
    ['https://api.example.net/a~b', 'https://api.example.net/%61%7eb'],
    ['https://api.example.net/a%2Fb', 'https://api.example.net/a%2fb'],
    ['https://xn--bcher-kva.example/%C3%BC', 'https://Bücher.example/ü'],
    ['http://127.0.0.1:8080', 'http://0x7f.1:8080'],
    ['http://[::1]:8080', 'http://[0:0:0:0:0:0:0:1]:8080/'],
    ['emulator', 'emulator'],
  ])('is %s for %s', (expected, address) => {
    expect(normalizeAddress(address)).toBe(expected)
  })

  it.each([
    ['http://api.example.net', 'https://api.example.net'],
    ['https://api.example.net:8443', 'https://api.example.net'],
    ['https://api.example.net/A', 'https://api.example.net/a'],
    ['https://api.example.net/a%2Fb', 'https://api.example.net/a/b'],
    ['https://api.example.net/%2541', 'https://api.example.net/A'],
  ])('of %s differs from that of %s', (one, other) => {
    expect(normalizeAddress(one)).not.toBe(normalizeAddress(other))
  })

  it('stays the same when it is normalized again, with or without a slash at the end', () => {
    const part = fc.constantFrom('/', '.', '%', '%2e', '%25', '41', 'ü', 'a', '~', '%7E')
    const parts = fc.array(part)
    fc.assert(
      fc.property(parts, (each) => {
        const address = `https://a.example/${each.join('')}`
        const once = normalizeAddress(address)
        expect(normalizeAddress(once)).toBe(once)
        expect(normalizeAddress(`${address}/`)).toBe(once)
      }),
    )
  })
})
