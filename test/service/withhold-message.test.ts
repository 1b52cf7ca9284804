import { expect, it } from 'vitest'
import { withholdMessage } from '../../src/service/write/client.ts'

it.each([
  ['domain(.example.com) is invalid', '.example.com'],
  ['no www.example.com here', 'www.example.com'],
  ['it ends with timeout.', 'timeout'],
])('a withheld message shows the names in it: %s', (text, shown) => {
  const names = new Set(['.example.com', 'www.example.com', 'timeout'])
  expect(withholdMessage(text, 400, 7, names)).toMatch(
    new RegExp(`^HTTP 400, code 7, ${shown.replaceAll('.', '\\.')} \\(message withheld`),
  )
})
