import { createServer, type IncomingMessage } from 'node:http'
import { EdgewiseError, type ErrorCode } from '../model/edgewise-error.ts'
import { answerError, answerJson, findErrorStatus, sendAnswer, type Answer } from './answer.ts'
import { discard } from './drain.ts'
import type { Logger } from './logger.ts'
import { answerMessage } from './pages/answer-page.ts'
import { isPagePath } from './pages/page-routes.ts'
import type { RouteContext } from './route-context.ts'
import { getPath, route } from './routes.ts'

/** Limits of what clients can occupy, ms. */
export interface HttpLimits {
  headersMs: number
  requestMs: number
  /** Time without a byte in either direction, also while an answer is made. */
  idleMs: number
  /** Interval at which these times are checked. */
  checkMs: number
  /** Time for running requests when the server closes. */
  closeMs: number
  /** Time for the rest of a body that was refused. */
  lingerMs: number
  /** Further connections are closed. */
  connections: number
}

const defaultLimits: HttpLimits = {
  headersMs: 10_000,
  requestMs: 60_000,
  idleMs: 300_000,
  checkMs: 1000,
  closeMs: 5000,
  lingerMs: 2000,
  connections: 256,
}

/** Ports and settings of an HTTP server. */
export interface HttpServerOptions extends RouteContext {
  logger: Logger
  /** Creates a unique id for a defect. */
  newId(): string
  limits?: HttpLimits
}

/** An HTTP server around a controller. */
export interface HttpServer {
  /**
   * Listens, and returns the port; port 0 picks a free one.
   *
   * @throws EdgewiseError `usage` when the address can't be used
   */
  listen(port: number, host: string): Promise<number>
  /** Ends idle connections, waits some seconds for running requests, then ends those as well. */
  close(): Promise<void>
}

/** Creates an HTTP server, not listening yet. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { limits = defaultLimits } = options
  let isClosing = false
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: limits.checkMs,
    },
    (incoming, outgoing) => {
      void answer(incoming, options).then((answered) => {
        // A body that was refused is discarded for a while: a reset could overtake the answer.
        const isUnread = !incoming.complete
        const end = isUnread ? discard(incoming, limits.lingerMs) : null
        sendAnswer(outgoing, answered, { isLast: isClosing || isUnread, end })
      })
      outgoing.on('error', () => outgoing.destroy())
    },
  )
  server.maxConnections = limits.connections
  // A client that reads no answer would keep its connection for ever.
  server.setTimeout(limits.idleMs)
  return {
    listen: (port, host) =>
      new Promise((resolve, reject) => {
        const fail = ({ code = '' }: NodeJS.ErrnoException) =>
          reject(
            new EdgewiseError(
              'usage',
              `the server can't listen on ${host}, port ${port} (${code})`,
              'Choose another --host or --port.',
            ),
          )
        server.once('error', fail)
        server.listen(port, host, () => {
          server.off('error', fail)
          const address = server.address()
          resolve(typeof address === 'object' && address !== null ? address.port : port)
        })
      }),
    close: () =>
      new Promise((resolve) => {
        isClosing = true
        const timer = setTimeout(() => server.closeAllConnections(), limits.closeMs)
        server.close(() => {
          clearTimeout(timer)
          resolve()
        })
        server.closeIdleConnections()
      }),
  }
}

async function answer(incoming: IncomingMessage, options: HttpServerOptions): Promise<Answer> {
  const isPage = isPagePath(getPath(incoming)) && getPath(incoming) !== '/live'
  try {
    return await route(incoming, options)
  } catch (error) {
    if (error instanceof EdgewiseError) {
      const scrub = (text: string) => options.logger.scrub(text)
      options.controller.metrics.countError(error.code)
      if (!isPage) return answerError(error, scrub)
      const hint = scrub(error.hint)
      const title = titles[error.code] ?? 'Not possible now'
      return answerMessage(findErrorStatus(error.code), title, scrub(error.message), { hint })
    }
    const id = options.newId()
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    options.controller.metrics.countError('defect')
    options.logger.error('a request failed', { id, error: text })
    const message = `the request failed; the log has the reason under ${id}`
    if (isPage) return answerMessage(500, 'A defect', message)
    return answerJson(500, {
      format: 'edgewise.error/1',
      code: 'defect',
      message,
      hint: '',
      diagnostics: [],
      id,
    })
  }
}

/** Titles of errors on pages. */
const titles: Partial<Record<ErrorCode, string>> = {
  invalid: 'The manifests have errors',
  locked: 'Another process has the lock',
  unavailable: 'Not available',
}
