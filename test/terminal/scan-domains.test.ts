import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { scanDomains } from '../../src/manifest/manifests/scan-domains.ts'
import { fc, itLong, itOften, runs } from '../runs.ts'

describe('the scan for domains', () => {
  it.each<[string, string, string[]]>([
    ['one domain', 'domain: a.example.com\nconfig: {}\n', ['a.example.com']],
    ['a wildcard domain', 'domain: .Example.com\nconfig: {}\n', ['.example.com']],
    ['quotes and a comment', 'domain: "A.example.com" # b.example.com\n', ['a.example.com']],
    ['JSON', '{"domain":"a.example.com","config":{}}', ['a.example.com']],
    ['laid out JSON', '{\n  "domain": "a.example.com",\n  "config": {}\n}', ['a.example.com']],
    ['flow style', '{domain: a.example.com, config: {}}', ['a.example.com']],
    [
      'a list in brackets',
      'domains: [a.example.com, "b.example.com",\n  c.example.com]\nconfig: {}\n',
      ['a.example.com', 'b.example.com', 'c.example.com'],
    ],
    [
      'a list with an entry per line, indented or not',
      'domains:\n  - a.example.com\n  # - x.example.com\n  - b.example.com # b\nvars: {}\n' +
        '---\ndomains:\n- c.example.com\nconfig: {}\n',
      ['a.example.com', 'b.example.com', 'c.example.com'],
    ],
    [
      'several documents, and a profile',
      'domain: a.example.com\n---\nprofile: p\n---\r\ndomain: b.example.com\r\nconfig: {}\r\n',
      ['a.example.com', 'b.example.com'],
    ],
    ['a field of an item', 'config:\n  cache_share:\n    domain: x.example.com\n', []],
    ['something else', 'domain:\n---\ndomains: 7\n# domain: a.example.com\n', []],
    [
      'hostile names',
      'domain: "$(touch x).example.com"\n---\ndomains: [`id`.example.com, a;b.example.com, *]\n',
      [],
    ],
  ])('finds %s', (_what, text, domains) => {
    expect(scanDomains(text)).toEqual(domains)
  })

  const name = fc.stringMatching(/^[a-z0-9]{1,8}\.[a-z]{2,5}$/)
  itOften('finds every domain of a printed manifest', () => {
    fc.assert(
      fc.property(fc.uniqueArray(name, { minLength: 1 }), (domains) => {
        const document = { vars: { a: 'x.y' }, domains, config: { timeout: { time: 60 } } }
        expect(scanDomains(stringify(document))).toEqual(domains)
        expect(scanDomains(JSON.stringify({ domains }))).toEqual(domains)
      }),
      { numRuns: runs(50, 1000) },
    )
  })

  itOften('returns only names without a character that a shell interprets', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        for (const found of scanDomains(`domain: ${text}\n---\ndomains: ${text}`))
          expect(found).toMatch(/^[a-z0-9_.-]+$/)
      }),
      { numRuns: runs(50, 2000) },
    )
  })

  itLong('searches nothing twice, which would not end', () => {
    expect(scanDomains('domains: [\n'.repeat(50_000))).toEqual([])
    expect(scanDomains('domains:\n'.repeat(50_000))).toEqual([])
    expect(scanDomains(`{${'\n'.repeat(300_000)}`)).toEqual([])
  })
})
