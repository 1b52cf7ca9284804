import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { answerText, type Answer } from '../http/answer.ts'
import type { DatabaseConfig } from '../../core/model/config.ts'

/** A term of the leader, and where signs of life of it are given. */
export interface PulseTerm {
  database: DatabaseConfig
  /** Path of the workspace's state. */
  path: string
  number: number
}

/** What a probe is about. */
interface ProbeRequest {
  method: string
  url: string
  accept: string
}

/** Times of the thread, ms. */
interface PulseTimes {
  /** Interval of the ticks of the process. */
  tickMs: number
  /** Silence of the process after which the thread gives signs of life. */
  quietMs: number
  /** Silence of the process after which it counts as hung. */
  hungMs: number
  /** Wait for an answer of the process. */
  answerMs: number
}

/** Data of the start of the thread. */
export interface PulseStart {
  port: number
  host: string
  times: PulseTimes
}

/** Messages of the process; a tick has why it is not healthy, null if it is. */
export type ToThread =
  | { kind: 'tick'; unhealthy: string | null }
  | { kind: 'term'; term: PulseTerm | null }
  | { kind: 'answer'; id: number; answer: Answer }
  | { kind: 'close' }

/** Messages of the thread. */
export type FromThread =
  | { kind: 'listening'; port: number }
  | { kind: 'refused'; code: string; message: string; hint: string }
  | { kind: 'probe'; id: number; request: ProbeRequest }

/** Silence is longest while a commit is loaded and planned, which the check has done in 60 s. */
const defaultTimes: PulseTimes = { tickMs: 1000, quietMs: 3000, hungMs: 120_000, answerMs: 5000 }

/** The program has the same relative path from the sources as from the built chunks. */
const threadFile = new URL(
  `../leader/pulse-thread${extname(new URL(import.meta.url).pathname)}`,
  import.meta.url,
)

/** What the thread asks of its process. */
export interface PulseContext {
  /** Returns why the process is not healthy; null if it is. */
  findUnhealthy(): string | null
  answer(request: ProbeRequest): Promise<Answer>
}

/** A listener for probes that answers while this thread is busy. */
export interface Pulse {
  port: number
  /** Gives signs of life of a term while this thread is busy; null: of none. */
  lead(term: PulseTerm | null): void
  close(): Promise<void>
}

/**
 * Starts the thread of the probes.
 *
 * @throws EdgewiseError `usage` when the address can't be used
 */
export async function startPulse(
  address: Pick<PulseStart, 'port' | 'host'>,
  context: PulseContext,
  times = defaultTimes,
): Promise<Pulse> {
  const workerData: PulseStart = { ...address, times }
  const worker = startThread(workerData)
  const send = (message: ToThread) => worker.postMessage(message, [])
  const exited = new Promise<void>((resolve) => void worker.on('exit', () => resolve()))
  const listening = new Promise<number>((resolve, reject) => {
    worker.on('error', reject)
    worker.on('message', (message: FromThread) => {
      if (message.kind === 'listening') resolve(message.port)
      if (message.kind === 'refused')
        reject(new EdgewiseError('usage', message.message, message.hint))
      if (message.kind === 'probe')
        void answerSafely(context, message.request).then((answer) =>
          send({ kind: 'answer', id: message.id, answer }),
        )
    })
  })
  const tick = () => send({ kind: 'tick', unhealthy: context.findUnhealthy() })
  tick()
  const ticking = setInterval(tick, times.tickMs)
  const close = async (): Promise<void> => {
    clearInterval(ticking)
    send({ kind: 'close' })
    await exited
  }
  try {
    const port = await listening
    return { port, lead: (term) => send({ kind: 'term', term }), close }
  } catch (error) {
    clearInterval(ticking)
    await worker.terminate()
    throw error
  }
}

function startThread(workerData: PulseStart): Worker {
  if (!threadFile.pathname.endsWith('.ts')) return new Worker(threadFile, { workerData })
  // From the sources, a thread needs the loader of TypeScript, as its process does.
  const [file, packages] = [threadFile, new URL('../../../node_modules', threadFile)].map((url) =>
    JSON.stringify(fileURLToPath(url)),
  )
  const code =
    `module.paths.push(${packages}); const load = require('tsx/cjs/api').require; ` +
    `load(${file}, ${file})`
  return new Worker(code, { eval: true, workerData })
}

async function answerSafely(context: PulseContext, request: ProbeRequest): Promise<Answer> {
  try {
    return await context.answer(request)
  } catch (error) {
    return answerText(500, error instanceof Error ? error.name : 'a defect')
  }
}
