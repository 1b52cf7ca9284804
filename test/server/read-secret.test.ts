import { expect, it } from 'vitest'
import { readSecret } from '../../src/server/http/read-secret.ts'

const name = 'EDGEWISE_SERVE_TOKEN'
const secret = 'a-token-of-the-api'

it.each([secret, `${secret}\n`, `${secret}\r\n`, `${secret}\n\n`])('reads %j', (text) => {
  expect(readSecret(name, { [name]: text })).toBe(secret)
})

it('reads nothing from a variable without a value, as Compose passes it on', () => {
  expect(readSecret(name, { other: secret })).toBe('')
  expect(readSecret(name, { [name]: '' })).toBe('')
})

it.each([
  ['\n', 'is empty'],
  ['   ', 'has blanks'],
  [` ${secret}`, 'has blanks'],
  [`${secret}\t`, 'has blanks'],
  [`${secret}\n${secret}`, 'has blanks'],
  ['a token with blanks', 'has blanks'],
  ['schlüssel-der-schnittstelle', 'has blanks or other characters'],
  ['fifteen-letters', 'has fewer than 16 characters'],
])('refuses %j: it %s', (text, reason) => {
  const read = () => readSecret(name, { [name]: text })
  expect(read).toThrow(`${name} ${reason}`)
  if (text.trim() !== '') expect(read).not.toThrow(text.trim())
})
