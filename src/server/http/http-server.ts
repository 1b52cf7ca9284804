import type { IncomingMessage } from 'node:http'
import { EdgewiseError, type ErrorCode } from '../../core/model/edgewise-error.ts'
import { answerError, answerJson, findErrorStatus, type Answer } from './answer.ts'
import { createLimitedServer, type HttpLimits, type LimitedServer } from './limited-server.ts'
import { describeThrown, type Logger } from '../logger.ts'
import { answerMessage } from '../pages/answer-page.ts'
import { isPagePath } from '../pages/page-routes.ts'
import type { RouteContext } from '../controller.ts'
import { getPath, route } from './routes.ts'
import { createShares } from './shares.ts'

/** Ports and settings of an HTTP server. */
export interface HttpServerOptions extends Omit<RouteContext, 'shares' | 'signal'> {
  logger: Logger
  /** Creates a unique id for a defect. */
  newId(): string
  limits?: HttpLimits
}

/** Creates an HTTP server around a controller, not listening yet. */
export function createHttpServer(options: HttpServerOptions): LimitedServer {
  const shares = createShares(options.clock)
  const answerIn = (incoming: IncomingMessage, signal: AbortSignal) =>
    answer(incoming, { ...options, shares, signal })
  return createLimitedServer(answerIn, options.limits)
}

async function answer(
  incoming: IncomingMessage,
  options: HttpServerOptions & RouteContext,
): Promise<Answer> {
  const isPage = isPagePath(getPath(incoming)) && getPath(incoming) !== '/live'
  try {
    return await route(incoming, options)
  } catch (error) {
    if (error instanceof EdgewiseError) {
      const { redact } = options.logger
      options.controller.metrics.countError(error.code)
      if (!isPage) return answerError(error, redact)
      const hint = redact(error.hint)
      const title = titles[error.code] ?? 'Not possible now'
      return answerMessage(findErrorStatus(error.code), title, redact(error.message), { hint })
    }
    const id = options.newId()
    options.controller.metrics.countError('defect')
    options.logger.error('request failed', { id, error: describeThrown(error, options.logger) })
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
  'record-unreachable': 'The database can not be reached',
  unavailable: 'Not available',
}
