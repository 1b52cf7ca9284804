import { describe, expect, it } from 'vitest'
import {
  replaceReferences,
  type Names,
  ReplacementBudget,
} from '../../src/manifest/manifests/references.ts'
import { plainKeeper } from './test-workspace.ts'

const names: Names = {
  budget: new ReplacementBudget(),
  domain: 'www.example.com',
  vars: new Map([
    ['pool', 'eu'],
    ['port', '8080'],
  ]),
  secrets: new Set(['token', 'signing']),
  refer: plainKeeper.maskTemplate,
}
const replaced = (text: string) => replaceReferences(text, names, '').value
const details = (text: string) =>
  replaceReferences(text, names, '/config/x').findings.map(
    ({ code, detail }) => `${code}: ${detail}`,
  )

describe('replaceReferences', () => {
  it('replaces domain and variables, and unescapes the literal form', () => {
    expect(replaced('https://${domain}/${var:pool}')).toBe('https://www.example.com/eu')
    expect(replaced('${var:port}')).toBe('8080')
    expect(replaced('$${domain} $$${domain} $ {domain} $domain')).toBe(
      '${domain} $${domain} $ {domain} $domain',
    )
  })

  it('turns a string with a secret reference into a secret', () => {
    const { value, secret } = replaceReferences(
      { a: ['${var:pool} ${secret:token}'], '${domain}': 1 },
      names,
      '',
    )
    expect(value).toEqual({ a: [{ $secret: 'scrypt:eu ${secret:token}' }], '${domain}': 1 })
    expect(secret).toBe(true)
  })

  it('returns the same object if there is no reference', () => {
    const value = { a: [{ b: 'x' }, 1, null] }
    expect(replaceReferences(value, names, '').value).toBe(value)
  })

  it.each([
    [
      '${var:pol}',
      'reference-unknown: there is no variable "pol". Did you mean "pool"? Define it under ' +
        '"vars" of the manifest.',
    ],
    [
      '${secret:tokn}',
      'reference-unknown: there is no secret "tokn". Did you mean "token"? Define it under ' +
        '"secrets" in edgewise.yaml.',
    ],
    [
      '${foo}',
      'reference-unknown: expected "${domain}", "${var:NAME}" or "${secret:NAME}", got ' +
        '"${foo}". Write "$${" for a literal "${".',
    ],
    ['a ${', 'reference-unknown: this "${" has no closing "}". Write "$${" for a literal "${".'],
    [
      '$${secret:a} ${secret:token}',
      'secret-invalid: a literal "${secret:" is not allowed in a text with a secret ' +
        'reference: the two could not be distinguished later',
    ],
  ])('%s', (text, detail) => {
    expect(details(text)).toEqual([detail])
  })

  it('refuses references to the environment, with a reason', () => {
    expect(details('${env:TOKEN}')[0]).toContain('any branch could use it to read the token')
  })

  it('refuses the form in which secrets are shown, at any depth', () => {
    expect(replaceReferences({ a: [{ $secret: 'scrypt:1' }] }, names, '/x').findings).toMatchObject(
      [{ pointer: '/x/a/0/$secret', part: 'key' }],
    )
    expect(replaceReferences({ a: { $unset: true } }, names, '/x').findings).toMatchObject([
      { pointer: '/x/a/$unset' },
    ])
    for (const key of ['$append', '$prepend'])
      expect(replaceReferences({ a: [{ [key]: [] }] }, names, '/x').findings).toMatchObject([
        { pointer: `/x/a/0/${key}`, detail: expect.stringContaining('not allowed inside a list') },
      ])
  })
})
