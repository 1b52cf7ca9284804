/** One request to the service, as it goes over the network. */
export interface Request {
  url: string
  /** JSON, to be posted. Without a body it is a GET. */
  body?: string
  /** After this long it is given up. */
  timeoutMs: number
  /** Given up as well once this is aborted. */
  signal?: AbortSignal
  /** A longer answer is cut. */
  maxBytes?: number
}

/** An answer as it came over the network. */
export interface Answer {
  status: number
  header(name: string): string | null
  body: string
}

/**
 * Carries a request to the service and brings the answer. Throws what `fetch` throws: an error
 * whose causes have codes such as `ECONNRESET`, or a `TimeoutError` for what was given up.
 */
export type Transport = (request: Request) => Promise<Answer>

const usualBytes = 4 * 1024 * 1024

/**
 * What `fetch` sends requests through instead of a direct connection: an object of the library
 * undici.
 */
export type Dispatcher = object

/** Carries requests over this machine's network. Redirects are not followed. */
export function createNetworkTransport(dispatcher?: Dispatcher): Transport {
  return async ({ url, body, timeoutMs, signal, maxBytes = usualBytes }) => {
    const late = new AbortController()
    const timer = setTimeout(
      () => late.abort(new DOMException('no answer in time', 'TimeoutError')),
      timeoutMs,
    )
    const givenUp = signal === undefined ? late.signal : AbortSignal.any([late.signal, signal])
    const request: RequestInit = {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body,
      redirect: 'manual',
      signal: givenUp,
    }
    if (dispatcher !== undefined) Object.assign(request, { dispatcher })
    try {
      return await unlessAborted(answerOf(url, request, maxBytes), givenUp)
    } finally {
      clearTimeout(timer)
    }
  }
}

async function answerOf(url: string, request: RequestInit, maxBytes: number): Promise<Answer> {
  const response = await fetch(url, request)
  return {
    status: response.status,
    header: (name) => response.headers.get(name),
    body: await boundedText(response, maxBytes),
  }
}

/** `fetch` never ends with an answer that it can't unpack, and then hears no signal either. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** The body as text; what is cut is no JSON. */
async function boundedText(response: Response, maxBytes: number): Promise<string> {
  if (response.body === null) return ''
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body) {
    chunks.push(chunk as Uint8Array)
    size += (chunk as Uint8Array).byteLength
    if (size > maxBytes) break
  }
  return Buffer.concat(chunks).toString('utf8')
}
