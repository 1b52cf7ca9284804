import { describe, expect, it } from 'vitest'
import { getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { Scrubber } from '../../src/manifest/secrets/scrubber.ts'
import { sealAnswer, sealForeign, type Seals } from '../../src/manifest/secrets/seal-foreign.ts'
import { SecretVault } from '../../src/manifest/secrets/secret-vault.ts'
import type { Json } from '../../src/core/model/json.ts'
import { withheldMessage } from '../../src/core/model/secret.ts'
import { markForeign } from '../../src/core/model/text/text-makers.ts'
import { Canaries, encodeForms } from '../steps/canary.ts'
import { returnedForms } from '../steps/secret-forms.ts'
import { itLong } from '../runs.ts'

const values = {
  key: 'key-canary-"three"/+&<3>=',
  number: '739182645091',
  words: 'correct horse battery staple',
  pem: '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----',
}
const createScrubber = (secrets: string[]) =>
  new Scrubber(() => new Map(secrets.map((value) => [value, '(secret)'])))
const scrubber = createScrubber(Object.values(values))
const seals: Seals = {
  find: () => undefined,
  seal: () => ({ $secret: 'sealed' }),
  isQuoted: (text) => scrubber.isQuoted(markForeign(text)),
  scrub: (name) => (scrubber.isQuoted(markForeign(name)) ? 'sealed' : name),
}
const secret = { $secret: 'scrypt:s' }
const sent = { pattern: '.*', key: secret, deadtime: 60 }
const cases = Object.entries(values).flatMap(([name, value]) =>
  [
    ...Object.entries(returnedForms).map(([form, change]): [string, Json] => [form, change(value)]),
    ...encodeForms(value),
  ].map(([form, returned]): [string, string, Json] => [name, form, returned]),
)

describe('a secret of 200 kilobytes', () => {
  const long = Array.from({ length: 20_000 }, (_, i) => `${i * 7919}`.padStart(10, 'é/')).join('-')
  const whole = new Scrubber(
    () =>
      new Map([
        [long, '(the key)'],
        ['hunter2!', '(other)'],
      ]),
  )

  itLong('is replaced as a whole, in any spelling, and so are others', () => {
    const base64 = Buffer.from(long).toString('base64')
    for (const quoted of [long, long.toUpperCase(), JSON.stringify(long).slice(1, -1)])
      expect(whole.scrub(markForeign(`got <${quoted}> here`))).toBe('got <(the key)> here')
    expect(whole.scrub(markForeign(`got "${base64}" here`))).not.toContain(base64.slice(500, 520))
    expect(whole.scrub(markForeign('got hunter2! here'))).toBe('got (other) here')
    expect(whole.scrub(markForeign('nothing'))).toBe('nothing')
  })

  it('leaves no part of it where a text has only its beginning, middle or end', () => {
    for (const part of [long.slice(0, 40_000), long.slice(5000, 6000), long.slice(-100)])
      expect(whole.scrub(markForeign(`got <${part}> here`))).not.toContain(part.slice(-20))
    expect(whole.isQuoted(markForeign(long.slice(0, 1000)))).toBe(true)
  })
})

describe('a value that the service returned', () => {
  const spec = getItemSpec('visit_timestamp')

  it('is sealed at the place of a secret, in any form', () => {
    for (const [name, form, returned] of cases) {
      for (const seal of [sealAnswer, sealForeign]) {
        const sealed = seal(spec, { ...sent, key: returned }, [sent], seals)
        expect({ name, form, sealed }).toEqual({
          name,
          form,
          sealed: { ...sent, key: { $secret: 'sealed' } },
        })
      }
    }
  })

  it('is sealed as a whole where its structure differs', () => {
    const sealed = { $secret: 'sealed' }
    expect(sealAnswer(spec, { ...sent, secret_key: 'abc' }, [sent], seals)).toEqual(sealed)
    expect(sealAnswer(spec, 'abc', [sent], seals)).toEqual(sealed)
    expect(sealAnswer(spec, ['abc'], [sent], seals)).toEqual(sealed)
    expect(sealAnswer(spec, { deadtime: 61 }, [sent], seals)).toEqual({ deadtime: 61 })
    expect(sealAnswer(spec, null, [sent], seals)).toBeNull()
    const tokens = getItemSpec('tos_origin')
    const list = [{ isp: 'default', auth_secret_key: secret }]
    expect(
      sealAnswer(tokens, [{ isp: 'default', auth_secret_key: 'abc', more: 1 }], [list], seals),
    ).toEqual([sealed])
  })

  it('is sealed once if it would take very many secrets', () => {
    const header = getItemSpec('add_back_source_head')
    const list = [{ head_name: 'a', head_value: secret }]
    const many = Array.from({ length: 70 }, (_, i) => ({ head_name: 'a', head_value: `v${i}` }))
    expect(sealAnswer(header, many, [list], seals)).toEqual({ $secret: 'sealed' })
    expect(sealAnswer(header, many.slice(0, 2), [list], seals)).toEqual([
      { head_name: 'a', head_value: { $secret: 'sealed' } },
      { head_name: 'a', head_value: { $secret: 'sealed' } },
    ])
  })

  it('stays plain at the place of a secret if it was sent in plain there', () => {
    const header = getItemSpec('add_back_source_head')
    const list = [
      { head_name: 'Authorization', head_value: secret },
      { head_name: 'X-Pool', head_value: 'eu' },
    ]
    expect(sealForeign(header, list.toReversed(), [list], seals)).toEqual(list.toReversed())
  })

  it('is sealed at any other place if it quotes a secret', () => {
    expect(
      sealAnswer(getItemSpec('extend'), { squid: `a ${values.key}`, [values.key]: 1 }, [], seals),
    ).toEqual({ squid: { $secret: 'sealed' }, sealed: 1 })
    const shown = { squid: values.words }
    expect(sealForeign(getItemSpec('extend'), shown, [shown], seals)).toEqual(shown)
  })
})

describe('a foreign object in the form of a sealed secret', () => {
  const foreign = [values.key, 'unresolved:key', 'new:key', `scrypt:${'0'.repeat(32)}`].flatMap(
    ($secret): Json[] => [{ $secret }, { $secret: { $secret } }],
  )
  const vault = new SecretVault('test', (name) => (name === 'key' ? values.key : null))
  const key = vault.maskTemplate('${secret:key}')
  const spec = getItemSpec('visit_timestamp')

  it('is sealed in an answer, like the text in it', () => {
    for (const returned of foreign) {
      const answer = { ...sent, key: returned, pattern: returned }
      const sealed = JSON.stringify(
        vault.maskAnswer(spec.key, answer, [{ ...sent, key: { ...key } }]),
      )
      expect(sealed).not.toContain(JSON.stringify(returned))
      expect(sealed).not.toMatch(/canary|"\$secret":"(?:unresolved|new):/)
    }
  })
})

describe('a foreign text', () => {
  it('never quotes a secret, in any encoding and cut', () => {
    const canaries = new Canaries(values)
    for (const value of Object.values(values)) {
      for (const part of [value, value.toUpperCase(), value.slice(0, 9), value.slice(-9)]) {
        const encoded = ['', 'a', 'ab'].flatMap((before): [string, string][] => {
          const bytes = Buffer.from(`${before}${part}`)
          return [
            ['base64', bytes.toString('base64')],
            ['base64url', bytes.toString('base64url')],
          ]
        })
        const others = encodeForms(part).filter(([form]) => !form.startsWith('base64'))
        for (const [form, text] of [...others, ...encoded])
          canaries.scanText(form, scrubber.scrub(markForeign(`not valid: ${text} (line 3)`)))
      }
    }
    expect(canaries.found).toEqual([])
  })

  it('never quotes a secret in nested encodings, as bytes or in other characters', () => {
    const token = 'Kx9vQ-canary/Zt+4mW=uP2s'
    const own = createScrubber([token, 'Zürich-Größe-ß7'])
    const toBase64 = (text: string) => Buffer.from(text).toString('base64')
    const toHex = (text: string) => Buffer.from(text).toString('hex')
    const encodings = [toBase64, toHex, encodeURIComponent, (text: string) => JSON.stringify(text)]
    const nested = encodings.flatMap((outer) => encodings.map((inner) => outer(inner(token))))
    const texts = [
      ...nested,
      toBase64(toBase64(toBase64(token))),
      `eyJhbGciOiJIUzI1NiJ9.${toBase64(JSON.stringify({ token: toBase64(token) }))}.c2ln`,
      toBase64(token).replace(/.{4}/g, '$&", "'),
      JSON.stringify(Buffer.from(token)),
      Array.from(Buffer.from(token), (byte) => `0x${byte.toString(16)}`).join(', '),
      Array.from(
        Buffer.from('Zürich-Größe'),
        (byte) => `\\${byte.toString(8).padStart(3, '0')}`,
      ).join(''),
      'Zürich-Größe-ß7'.normalize('NFD'),
      token.replace(/[!-~]/g, (char) => String.fromCharCode(char.charCodeAt(0) + 0xfee0)),
    ]
    for (const text of texts)
      expect([text, own.isQuoted(markForeign(`bad value "${text}" (line 3)`))]).toEqual([
        text,
        true,
      ])
  })

  it('stays as it is without one', () => {
    const text = 'timeout of www.example.com: expected at most 50, got 60 (request 7f3a9c02)'
    expect(scrubber.scrub(markForeign(text))).toBe(text)
  })

  it('never quotes a short secret in another encoding', () => {
    const own = createScrubber(['hunter2'])
    for (const text of [Buffer.from('a hunter2 b').toString('hex'), 'HUNTER2', '%68%75nter2'])
      expect(own.scrub(markForeign(`bad value ${text}`))).not.toContain(text)
  })

  it('stays as it is if it shares only a scheme with the address of a receiver', () => {
    const address = 'https://hooks.example.net/services/T0/B0'
    const own = createScrubber([address])
    const text = "fatal: unable to access 'https://git.acme.test/cdn.git/': error 403"
    expect(own.scrub(markForeign(text))).toBe(text)
    expect(own.scrub(markForeign(`bad value ${address}`))).toBe('bad value (secret)')
    expect(own.scrub(markForeign(`bad value ${address.slice(0, -3)}`))).toBe(withheldMessage)
  })

  it('keeps known names as whole words', () => {
    const own = new Scrubber(() => new Map([['example', '(token)']]))
    const names = new Set(['www.example.com'])
    expect(own.scrub(markForeign('example: https://www.example.com/x, example.com'), names)).toBe(
      '(token): https://www.example.com/x, (token).com',
    )
    const wild = new Set(['.example.com'])
    expect(own.scrub(markForeign('domain(.example.com) of example.com'), wild)).toMatch(
      /^domain\(\.example\.com\) of \(/,
    )
  })

  it('does not look for values of less than four characters', () => {
    expect(
      new Scrubber(() => new Map([['x', '(token)']])).scrub(markForeign('www.example.com x')),
    ).toBe('www.example.com x')
  })
})
