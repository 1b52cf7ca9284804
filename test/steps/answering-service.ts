import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Json, JsonObject } from '../../src/core/model/json.ts'

/**
 * Answer of a service to a write: HTTP status, JSON and more headers; a string is sent unchanged.
 */
export type Answer = (body: JsonObject) => [number, Json, Record<string, string>?]

/**
 * Starts a service that answers calls (a query has an empty body) from a list, repeats the last
 * answer, and stops with the test.
 *
 * @returns its address, and a function that stops it earlier
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
      const [status, body, headers] = answer(JSON.parse(text === '' ? '{}' : text) as JsonObject)
      response
        .writeHead(status, { 'content-type': 'application/json', 'retry-after': '1', ...headers })
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
