/** One HTTP request to the service. */
export interface Request {
  url: string
  /** Default: POST with a body, otherwise GET. */
  method?: 'DELETE'
  /** JSON. */
  body?: string
  /** More headers. */
  headers?: Record<string, string>
  /** Time-out. */
  timeoutMs: number
  /** Aborts the request too. */
  signal?: AbortSignal
  /** Maximum size of the answer; the rest is cut off. */
  maxBytes?: number
}

/** An HTTP answer. */
export interface Answer {
  status: number
  header(name: string): string | null
  body: string
}

/**
 * Sends a request to the service and returns the answer. Throws what `fetch` throws: an error whose
 * causes have codes such as `ECONNRESET`, or a `TimeoutError` after the time-out.
 */
export type Transport = (request: Request) => Promise<Answer>

const defaultMaxBytes = 4 * 1024 * 1024

/** Replacement of the direct connection of `fetch`: an object of the library undici. */
export type Dispatcher = object

/** Creates a transport over the network of this machine. Redirects are not followed. */
export function createNetworkTransport(dispatcher?: Dispatcher): Transport {
  return async ({ url, method, body, headers, timeoutMs, signal, maxBytes = defaultMaxBytes }) => {
    const late = new AbortController()
    const timer = setTimeout(
      () => late.abort(new DOMException('no answer in time', 'TimeoutError')),
      timeoutMs,
    )
    const givenUp = signal === undefined ? late.signal : AbortSignal.any([late.signal, signal])
    const request: RequestInit = {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body,
      redirect: 'manual',
      signal: givenUp,
    }
    if (dispatcher !== undefined) Object.assign(request, { dispatcher })
    try {
      return await rejectOnAbort(fetchAnswer(url, request, maxBytes), givenUp)
    } finally {
      clearTimeout(timer)
    }
  }
}

async function fetchAnswer(url: string, request: RequestInit, maxBytes: number): Promise<Answer> {
  const response = await fetch(url, request)
  return {
    status: response.status,
    header: (name) => response.headers.get(name),
    body: await readBoundedText(response, maxBytes),
  }
}

/**
 * Rejects on abort: `fetch` never settles for an answer that it cannot decompress, not even on
 * abort.
 */
function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** Reads the body as text; a body that was cut off is not JSON. */
async function readBoundedText(response: Response, maxBytes: number): Promise<string> {
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
