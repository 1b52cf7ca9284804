import type { Answer } from './read-answer.ts'

/** One request to the service, as it goes over the network. */
export interface Request {
  url: string
  /** JSON. */
  body: string
  /** After this long it is given up. */
  timeoutMs: number
}

/**
 * Carries a request to the service and brings the answer. Throws what `fetch` throws: an error whose causes have codes
 * such as `ECONNRESET`, or a `TimeoutError` for what was given up.
 */
export type Transport = (request: Request) => Promise<Answer>

const mostBytes = 4 * 1024 * 1024

/** Over this machine's network; `dispatcher` (of undici's kind) where a proxy stands between. Redirects are not followed. */
export function overNetwork(dispatcher?: RequestInit['dispatcher']): Transport {
  return async ({ url, body, timeoutMs }) => {
    const request: RequestInit = {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    }
    if (dispatcher !== undefined) request.dispatcher = dispatcher
    const response = await fetch(url, request)
    return { status: response.status, header: (name) => response.headers.get(name), body: await boundedText(response) }
  }
}

/** The body as text; what is longer than any honest answer is cut, and is then no JSON. */
async function boundedText(response: Response): Promise<string> {
  if (response.body === null) return ''
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body) {
    chunks.push(chunk as Uint8Array)
    size += (chunk as Uint8Array).byteLength
    if (size > mostBytes) break
  }
  return Buffer.concat(chunks).toString('utf8')
}
