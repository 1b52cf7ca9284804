import type { Clock } from '../../core/model/time/clock.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { findMin } from '../../core/model/lists.ts'
import { type Note, formatEnd } from '../../core/model/text/words.ts'
import { type GitResult, type WatchedGit, hideCredentials } from './git-command.ts'

/** Time limits of git's calls to a remote, ms. Output of a call counts as a sign of life. */
export interface RemoteLimits {
  /** Longest time of a call without a sign of life. */
  silenceMs: number
  /** Longest time without a sign of life of all calls together, from the first of them. */
  totalMs: number
  /** Both of them after an interrupt, from the interrupt on. */
  interruptedMs: number
  /** Time after which a call is reported. */
  reportMs: number
}

/** A process ends within 90 s of the first call that hangs, and within 5 s of an interrupt. */
export const remoteLimits: RemoteLimits = {
  silenceMs: 45_000,
  totalMs: 80_000,
  interruptedMs: 4000,
  reportMs: 10_000,
}

/** Context of the calls to a remote. */
export interface RemoteContext {
  clock: Pick<Clock, 'now'>
  /** Aborted by an interrupt. */
  signal: AbortSignal
  note?: Note
  /** Other limits, and another clock than that of the timers, ms; for tests. */
  limits?: RemoteLimits
  timerNow?(): number
}

/** The remote does not answer: further calls in this process fail, too. */
export class HangingRemoteError extends EdgewiseError {}

/** A call of which the remote has not answered yet. */
interface Call {
  /** Last sign of life, or start; monotonic clock, ms. */
  since: number
}

/** Commands whose end is an answer of the remote; others may need no call to it. */
const remoteCommands = new Set(['ls-remote', 'fetch', 'push'])

/**
 * Runs git for calls to a remote, with a limit for the time that all of them together wait for a
 * remote that hangs. A given-up call is killed with all that it started.
 */
export class RemoteCalls {
  readonly #git: WatchedGit
  readonly #name: string
  /** Name and address, for messages. */
  readonly #remote: string
  readonly #context: RemoteContext
  readonly #limits: RemoteLimits
  readonly #inFlight = new Set<Call>()
  /**
   * Start of the first silence that was given up, by command and ref. Only an answer of the same
   * command for the same ref ends it: a remote may hang for some calls and answer others.
   */
  readonly #givenUp = new Map<string, number>()
  #interruptedAt: number | null = null
  #isReported = false

  constructor(
    git: WatchedGit,
    { name, url }: { name: string; url: string },
    context: RemoteContext,
  ) {
    this.#git = git
    this.#name = name
    this.#remote = `${name} (${hideCredentials(url)})`
    this.#context = context
    this.#limits = context.limits ?? remoteLimits
  }

  /** @throws HangingRemoteError with the code `record-unreachable` */
  async run(args: string[], input?: string): Promise<GitResult> {
    const command = findCommand(args)
    const kind = `${command} ${findRef(args)}`
    const call: Call = { since: this.#now() }
    this.#inFlight.add(call)
    const giveUp = new AbortController()
    const stopWatching = this.#watch(call, command, () => giveUp.abort())
    const onOutput = () => {
      call.since = this.#now()
    }
    try {
      const result = await this.#git(args, input, { signal: giveUp.signal, onOutput })
      if (giveUp.signal.aborted) {
        this.#givenUp.set(kind, Math.min(this.#givenUp.get(kind) ?? Infinity, call.since))
        throw this.#createError(command)
      }
      if (remoteCommands.has(command)) {
        this.#givenUp.delete(kind)
        if (this.#givenUp.size === 0) this.#isReported = false
      }
      return result
    } finally {
      stopWatching()
      this.#inFlight.delete(call)
    }
  }

  /** Reports a call that takes long, and gives it up in time. Returns a function that ends this. */
  #watch(call: Call, command: string, giveUp: () => void): () => void {
    const { signal } = this.#context
    const reportAt = call.since + this.#limits.reportMs
    let timer: NodeJS.Timeout | undefined
    const check = () => {
      clearTimeout(timer)
      if (signal.aborted) this.#interruptedAt ??= this.#now()
      const restMs = this.#computeRest(call)
      if (restMs <= 0) return giveUp()
      const untilReportMs = reportAt - this.#now()
      if (untilReportMs <= 0) this.#report(command, restMs)
      timer = setTimeout(check, this.#isReported ? restMs : Math.min(restMs, untilReportMs))
    }
    signal.addEventListener('abort', check)
    check()
    return () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', check)
    }
  }

  /** Computes how long a call may go on without a sign of life, ms. */
  #computeRest({ since }: Call): number {
    const interruptedAt = this.#interruptedAt
    const { interruptedMs } = this.#limits
    const [silenceMs, totalMs] =
      interruptedAt === null
        ? [this.#limits.silenceMs, this.#limits.totalMs]
        : [interruptedMs, interruptedMs]
    const from = (time: number) => Math.max(time, interruptedAt ?? time)
    const end = Math.min(from(since) + silenceMs, from(this.#findFirstSilence()) + totalMs)
    return Math.ceil(end - this.#now())
  }

  #findFirstSilence(): number {
    const inFlight = [...this.#inFlight].map(({ since }) => since)
    return findMin([...this.#givenUp.values(), ...inFlight])
  }

  #report(command: string, restMs: number): void {
    if (this.#isReported) return
    this.#isReported = true
    const end = formatEnd(this.#context.clock.now(), restMs)
    this.#context.note?.(
      `waiting for the remote ${this.#remote} to answer "git ${command}"; ` +
        `it is given up at ${end} unless it makes progress`,
    )
  }

  #createError(command: string): HangingRemoteError {
    const seconds = Math.round((this.#now() - this.#findFirstSilence()) / 1000)
    const why = this.#interruptedAt === null ? '' : ' after the interrupt'
    return new HangingRemoteError(
      'record-unreachable',
      `the remote ${this.#remote} has not answered for ${seconds} s; "git ${command}" was given ` +
        `up${why}`,
      `Check that "git fetch ${this.#name}" works. What this clone has recorded is kept, and ` +
        'shared by the next command here that takes the lock.',
    )
  }

  #now(): number {
    return this.#context.timerNow?.() ?? performance.now()
  }
}

/** Finds git's command in arguments that may begin with settings: `-c`, then name and value. */
function findCommand(args: string[]): string {
  return args.find((arg, i) => arg !== '-c' && args[i - 1] !== '-c') ?? ''
}

/** Finds the ref of the remote in arguments that end with a ref or with `commit:ref`. */
function findRef(args: string[]): string {
  return args.at(-1)?.split(':').at(-1) ?? ''
}
