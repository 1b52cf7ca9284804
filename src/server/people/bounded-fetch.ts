import { createDispatcher } from '../../service/proxy.ts'
import { createNetworkTransport } from '../../service/transport.ts'

/** Longest answer of a provider, bytes, and longest wait for it, ms. */
const [maxBytes, timeoutMs] = [512 * 1024, 10_000]

/** Answers that a response may not have a body with. */
const empty = [204, 205, 304]

/** The part of `fetch` that the libraries of OpenID Connect use. */
export type BoundedFetch = (
  url: string,
  options: {
    headers?: Headers | Record<string, string>
    body?: unknown
    signal?: AbortSignal | null | undefined
  },
) => Promise<Response>

/**
 * Creates a `fetch` for providers: through the proxies of the environment, with a limit of size and
 * time, and without redirects, which could lead into the own network.
 */
export function createBoundedFetch(env: Record<string, string | undefined>): BoundedFetch {
  return async (url, { headers, body, signal }) => {
    const send = createNetworkTransport(await createDispatcher(url, env))
    const isText = typeof body === 'string' || body instanceof URLSearchParams
    const answer = await send({
      url,
      headers: Object.fromEntries(new Headers(headers)),
      body: isText ? String(body) : undefined,
      signal: signal ?? undefined,
      timeoutMs,
      maxBytes,
    })
    return new Response(empty.includes(answer.status) ? null : answer.body, {
      status: answer.status,
      headers: { 'content-type': answer.header('content-type') ?? '' },
    })
  }
}
