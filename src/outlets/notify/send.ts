import type { Clock } from '../../core/model/time/clock.ts'
import type { NotifyConfig } from '../../core/model/config.ts'
import type { Transport } from '../../service/transport.ts'
import { formatMessage } from './messages.ts'
import type { Notification } from './notification.ts'

const timeoutMs = 10_000
/** Waits before the second and the third attempt, ms. */
const pausesMs = [1000, 4000]
/** Longest wait that a receiver may ask for, ms. */
const maxPauseMs = 30_000

/** The part of the outside that sending needs. */
export interface SendContext {
  clock: Pick<Clock, 'now' | 'sleep'>
  signal: AbortSignal
  createTransport(url: string): Promise<Transport>
  /** Finds the hash of the newest entry of the history, which every notification carries. */
  findNewestHash(): Promise<string | null>
}

/**
 * Sends a notification with the newest hash of the history, and repeats it after failures that
 * another attempt may not have. The receiver may get it more than once, with the same id.
 *
 * @param isQuick whether it may be sent again within seconds
 * @returns why it was not sent, without the address; null if it was
 */
export async function sendNotification(
  notification: Notification,
  receiver: NotifyConfig,
  { clock, signal, createTransport, findNewestHash }: SendContext,
  isQuick = true,
): Promise<string | null> {
  const missing = receiver.url === '' || receiver.secret === ''
  if (missing) return `no value for ${receiver.variables.join(' or ')}`
  const transport = await createTransport(receiver.url)
  const history = notification.history ?? (await findNewestHash()) ?? undefined
  const message = formatMessage({ ...notification, history }, receiver, clock.now())
  const request = { url: receiver.url, ...message, timeoutMs }
  for (let attempt = 0; ; attempt++) {
    const { failure, retryMs } = await attemptToSend(transport, request)
    const pauseMs = pausesMs[attempt]
    if (failure === null || retryMs === null || pauseMs === undefined || !isQuick || signal.aborted)
      return failure
    await clock.sleep(Math.max(pauseMs, retryMs), signal)
  }
}

interface Attempt {
  failure: string | null
  /** Shortest wait before another attempt, ms; null if none may help. */
  retryMs: number | null
}

async function attemptToSend(
  transport: Transport,
  request: Parameters<Transport>[0],
): Promise<Attempt> {
  try {
    const { status, header } = await transport({ ...request, maxBytes: 10_000 })
    if (status >= 200 && status < 300) return { failure: null, retryMs: null }
    const seconds = Number(header('retry-after') ?? 0)
    const retryMs = Math.min(maxPauseMs, Number.isFinite(seconds) ? seconds * 1000 : 0)
    return {
      failure: `HTTP ${status}`,
      retryMs: status === 429 || status >= 500 ? retryMs : null,
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return { failure: findReason(error), retryMs: 0 }
  }
}

/** Finds the reason of a failure of the network, which never has the address. */
function findReason(error: Error): string {
  if (error.name === 'TimeoutError') return `no answer within ${timeoutMs / 1000} s`
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause)
    if ('code' in cause && typeof cause.code === 'string') return cause.code
  return 'the connection failed'
}
