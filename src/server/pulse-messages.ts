import type { DatabaseConfig } from '../model/config.ts'
import type { Answer } from './answer.ts'

/** A term of the leader, and where signs of life of it are given. */
export interface PulseTerm {
  database: DatabaseConfig
  /** Path of the workspace's state. */
  path: string
  number: number
}

/** What a probe is about. */
export interface ProbeRequest {
  method: string
  url: string
  accept: string
}

/** Times of the thread, ms. */
export interface PulseTimes {
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
