import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Json, JsonObject } from '../../src/model/json.ts'

/** What a service answers to a write: HTTP status and JSON; a text is sent as it is. */
export type Answer = (body: JsonObject) => [number, Json]

/**
 * A service that answers each write as the list says, the last one for ever, until the test is
 * over.
 *
 * @returns its address, and how to end it before
 */
export async function startAnsweringService(
  ...answers: [Answer, ...Answer[]]
): Promise<{ url: string; close(): void }> {
  let call = 0
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      const answer = answers[call++] ?? answers.at(-1) ?? answers[0]
      const [status, body] = answer(JSON.parse(text) as JsonObject)
      response
        .writeHead(status, { 'content-type': 'application/json', 'retry-after': '1' })
        .end(typeof body === 'string' ? body : JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  onTestFinished(close)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}
