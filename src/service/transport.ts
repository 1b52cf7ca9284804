/** One request to the service, as it goes over the network. */
export interface Request {
  url: string
  /** JSON, to be posted. Without a body it is a GET. */
  body?: string
  /** After this long it is given up. */
  timeoutMs: number
  /** Given up as well once this is aborted. */
  signal?: AbortSignal
  /** What is longer than any honest answer is cut, bytes. */
  mostBytes?: number
}

/** An answer as it came over the network. */
export interface Answer {
  status: number
  header(name: string): string | null
  body: string
}

/**
 * Carries a request to the service and brings the answer. Throws what `fetch` throws: an error whose causes have codes
 * such as `ECONNRESET`, or a `TimeoutError` for what was given up.
 */
export type Transport = (request: Request) => Promise<Answer>

const usualBytes = 4 * 1024 * 1024

/** Over this machine's network; `dispatcher` (of undici's kind) where a proxy stands between. Redirects are not followed. */
export function overNetwork(dispatcher?: RequestInit['dispatcher']): Transport {
  return async ({ url, body, timeoutMs, signal, mostBytes = usualBytes }) => {
    const timeout = AbortSignal.timeout(timeoutMs)
    const request: RequestInit = {
      method: body === undefined ? 'GET' : 'POST',
      headers: { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body }),
      redirect: 'manual',
      signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
    }
    if (dispatcher !== undefined) request.dispatcher = dispatcher
    const response = await fetch(url, request)
    return { status: response.status, header: (name) => response.headers.get(name), body: await boundedText(response, mostBytes) }
  }
}

/** The body as text; what is cut is no JSON. */
async function boundedText(response: Response, mostBytes: number): Promise<string> {
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
