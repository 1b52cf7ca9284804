import { describe, expect, it } from 'vitest'
import { isDomain, suggestName } from '../../src/core/catalog/value/formats.ts'
import { place, setStage } from './stage.ts'

setStage()

describe('the right form of a name', () => {
  it.each([
    ['bücher.example.com', 'xn--bcher-kva.example.com'],
    ['*.example.com', '.example.com'],
    ['https://www.example.com', 'www.example.com'],
    ['HTTP://WWW.example.com:8080/a?b#c', 'www.example.com'],
    ['https://*.Bücher.example/', '.xn--bcher-kva.example'],
    ['www.example.com.', 'www.example.com'],
    [' www.example.com ', 'www.example.com'],
    ['www.example.com/', 'www.example.com'],
    ['www.example.com:443', 'www.example.com'],
  ])('of %s is %s', (text, name) => {
    expect(suggestName(text)).toBe(`. Did you mean "${name}"?`)
  })

  it.each(['', 'www', '192.0.2.1', '*', '*.', 'a b.com', 'https://', '[::1]', 'www..example.com'])(
    'of %j is not known',
    (text) => {
      expect(suggestName(text)).toBe('')
    },
  )

  it('is none of a name that is right, or that may not be a wildcard', () => {
    for (const name of ['www.example.com', 'WWW.example.com', '.example.com'])
      expect(suggestName(name)).toBe('')
    expect(suggestName('*.example.com', isDomain)).toBe('')
  })
})

describe('is offered', () => {
  const said = 'Did you mean "xn--bcher-kva.example"?'
  const name = 'https://bücher.example/'

  it.each([
    ['domain', `domain: ${name}\nconfig: {timeout: {time: 60}}\n`],
    ['domains', `domains: [a.test.com, "${name}"]\nconfig: {timeout: {time: 60}}\n`],
    ['origin', `domain: a.test.com\nconfig: {origin: {default_master: ["${name}"]}}\n`],
    ['new_origin', `domain: a.test.com\nconfig: {new_origin: [{origin: "${name}"}]}\n`],
    ['referer', `domain: a.test.com\nconfig: {referer: {type: 1, list: ["${name}"]}}\n`],
    ['origin_host', `domain: a.test.com\nconfig: {origin_host: {host: "${name}"}}\n`],
  ])('in a manifest: %s', async (_, text) => {
    place.write('domains/a.yaml', text)
    const { code, out } = await place.cli('validate', '--json')
    expect([code, out]).toEqual([1, expect.stringContaining(JSON.stringify(said).slice(1, -1))])
  })

  it.each([
    ['trace', ['trace', 'https://bücher.example/a'], said],
    ['trace', ['trace', 'www.test.com/a?b'], 'Did you mean "https://www.test.com/a?b"?'],
    ['stats', ['stats', name], said],
    ['import', ['import', 'domains.json'], said],
    ['drift', ['drift', '--observed', 'domains.json'], said],
    ['import --domain', ['import', 'answer.json', '--domain', name], said],
  ])('by %s: %j', async (_, args, text) => {
    place.manifest('www.test.com', { timeout: { time: 60 } })
    place.write('domains.json', JSON.stringify({ [name]: { timeout: { time: '60' } } }))
    place.write('answer.json', JSON.stringify({ timeout: { time: '60' } }))
    const { code, out, err } = await place.cli(...args)
    expect(code).not.toBe(0)
    expect((out + err).replaceAll(/\s+/g, ' ')).toContain(text)
  })
})
