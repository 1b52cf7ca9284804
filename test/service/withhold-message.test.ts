import { expect, it } from 'vitest'
import type { Wire } from '../../src/core/model/item.ts'
import { Scrubber } from '../../src/manifest/secrets/scrubber.ts'
import { createClient, withholdMessage } from '../../src/service/write/client.ts'
import { encodeForms } from '../steps/canary.ts'
import { returnedForms } from '../steps/secret-forms.ts'

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

const secret = 'Key-canary-"three"/+&<3>='
const [code, status] = [7, 400]

/** Refuses a write of a secret with a message, and returns what is shown of it. */
async function refuse(message: string, secrets: string[] | null = [secret]): Promise<string> {
  const scrubber = new Scrubber(() => new Map([[secret, '(secret)']]))
  const client = createClient({
    url: 'https://service.test',
    token: 'the-token',
    timeoutMs: 1,
    itemKeys: {},
    names: ['visit_timestamp', 'key', 'deadtime'],
    scrub: (text, sent) => scrubber.scrub(text, new Set(), sent),
    transport: async () => ({
      status,
      body: JSON.stringify({ code, message }),
      header: () => null,
    }),
  })
  const config = { visit_timestamp: { key: secret } } as unknown as Record<string, Wire>
  const outcome = await client.write(['www.example.com'], config, secrets)
  return outcome.kind === 'refused' ? outcome.message : outcome.kind
}

it('shows a message about a write with a secret that has nothing of a secret', async () => {
  const message = 'visit_timestamp of www.example.com: deadtime must be at most 86400'
  expect(await refuse(message)).toBe(message)
  // An earlier value may be quoted, or one that is too short to be found.
  for (const secrets of [null, [secret, 'abc1234']])
    expect(await refuse(message, secrets)).toMatch(/^HTTP 400, code 7, visit_timestamp, .*withheld/)
})

it('withholds each message that quotes a secret, or a word of it, in any form', async () => {
  const parts = [secret, secret.slice(0, 10), secret.slice(-10), 'canary', 'CANARY', 'anar']
  const forms = [
    ...encodeForms(secret).map(([, text]) => text),
    ...Object.values(returnedForms).map((change) => JSON.stringify(change(secret))),
    ...parts,
  ]
  for (const form of forms)
    expect([form, await refuse(`key: bad value ${form}!`)]).toEqual([
      form,
      'HTTP 400, code 7, key (message withheld: may quote a secret)',
    ])
})
