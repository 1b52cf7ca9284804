/**
 * Program of a thread that answers probes while the process loads or plans, which blocks its own
 * thread, and gives signs of life of the leader meanwhile. It knows nothing of itself: after a
 * longer silence of the process it reports that, and gives no sign any more.
 */
import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { throwDefect } from '../../core/model/edgewise-error.ts'
import { createPool } from '../../state/postgres/create-pool.ts'
import { createLeadership, type Leadership } from '../../state/postgres/leadership.ts'
import { openDatabase } from '../../state/postgres/open-database.ts'
import { answerText, type Answer, allow } from '../http/answer.ts'
import { createLimitedServer } from '../http/limited-server.ts'
import type { FromThread, PulseStart, PulseTerm, ToThread } from './pulse.ts'

const { port, host, times } = workerData as PulseStart
const ended = new AbortController()
const now = () => performance.now()
const waiting = new Map<number, (answer: Answer) => void>()
let ids = 0
let last: { atMs: number; unhealthy: string | null } = { atMs: now(), unhealthy: null }
let term: { number: number; leadership: Leadership } | null = null

const server = createLimitedServer(answerProbe)

parentPort?.on('message', (message: ToThread) => {
  last = { ...last, atMs: now() }
  if (message.kind === 'tick') last.unhealthy = message.unhealthy
  if (message.kind === 'term') term = message.term === null ? null : openTerm(message.term)
  if (message.kind === 'answer') waiting.get(message.id)?.(message.answer)
  if (message.kind === 'close') void close()
})
void listen()
void keepAlive()

async function listen(): Promise<void> {
  try {
    post({ kind: 'listening', port: await server.listen(port, host, '--health-port') })
  } catch (error) {
    throwDefect(error)
    const { code, message, hint } = error
    post({ kind: 'refused', code, message, hint })
  }
}

async function close(): Promise<void> {
  ended.abort()
  await server.close()
  parentPort?.close()
}

async function answerProbe(incoming: IncomingMessage): Promise<Answer> {
  const { method = '', url = '', headers } = incoming
  const path = url.split('?', 1)[0]
  const silentMs = now() - last.atMs
  const silence = `the process has not answered for ${Math.round(silentMs / 1000)} seconds`
  if (path === '/healthz') {
    const reason = silentMs > times.hungMs ? silence : last.unhealthy
    return allow(incoming, 'GET') ?? answerText(reason === null ? 200 : 503, reason ?? 'ok')
  }
  const id = ++ids
  const answered = new Promise<Answer>((resolve) => waiting.set(id, resolve))
  post({ kind: 'probe', id, request: { method, url, accept: headers.accept ?? '' } })
  const isOver = new AbortController()
  const late = sleep(times.answerMs, null, { signal: isOver.signal }).catch(() => null)
  const answer = await Promise.race([answered, late])
  isOver.abort()
  waiting.delete(id)
  return answer ?? answerText(503, 'the process is busy')
}

/** Gives signs of life while the process is silent, and not for longer than it may be. */
async function keepAlive(): Promise<void> {
  while (!ended.signal.aborted) {
    await sleep(times.tickMs, null, { signal: ended.signal }).catch(() => null)
    const silentMs = now() - last.atMs
    if (term === null || silentMs < times.quietMs || silentMs > times.hungMs) continue
    const { leadership, number } = term
    await ignoreFailure(() => leadership.renew(number))
  }
}

function openTerm({ database, path, number }: PulseTerm): NonNullable<typeof term> {
  const clock = {
    monotonic: now,
    sleep: async (ms: number) => void (await sleep(ms, null, { signal: ended.signal })),
  }
  const opened = openDatabase(database, {
    clock,
    signal: ended.signal,
    createPool: (config) => createPool(config, 1),
  })
  const leadership = createLeadership(opened, path)
  // What the first sign of life needs is loaded before it is urgent.
  void ignoreFailure(() => leadership.isCurrent(number))
  return { number, leadership }
}

/** The database may be back at the next time; the process itself reports that it is away. */
async function ignoreFailure(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    throwDefect(error)
  }
}

function post(message: FromThread): void {
  parentPort?.postMessage(message, [])
}
