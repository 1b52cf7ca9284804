import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { startReplica, type Replica } from '../../server/replica.ts'

/** Logged last by a process that ends. */
const lastWords = ['another replica leads now', 'stopped']
/** Wait before a process that ended is started again, ms. */
const restartMs = 2000

/** A replica that is started again whenever it ends, as a cluster does. */
export class KeptReplica {
  readonly name: string
  /** The process that runs; null between two. */
  current: Replica | null = null
  /** Times from the last word of a process to its end, ms. */
  readonly lastWordsMs: number[] = []
  /** Exit codes of all processes that ended by themselves. */
  readonly codes: (number | null)[] = []
  readonly logs: string[] = []
  readonly #start: () => Promise<Replica>
  #isOver = false
  #kept: Promise<void> = Promise.resolve()

  constructor(name: string, cwd: string, env: Record<string, string>, args: string[]) {
    this.name = name
    this.#start = () => startReplica(cwd, env, args)
  }

  /** Starts it; ends when its first process answers. */
  async begin(): Promise<void> {
    this.current = await this.#start()
    this.#kept = this.#keep(this.current)
  }

  /** Ends it with SIGTERM, or the one that starts; returns how long that took, ms. */
  async end(): Promise<number> {
    this.#isOver = true
    const startMs = performance.now()
    const timer = setTimeout(() => this.current?.process.kill('SIGKILL'), 40_000)
    this.current?.process.kill('SIGTERM')
    await this.#kept
    clearTimeout(timer)
    return performance.now() - startMs
  }

  async #keep(first: Replica): Promise<void> {
    let replica: Replica | null = first
    while (replica !== null) {
      await this.#watch(replica)
      if (!this.#isOver) await sleep(restartMs)
      replica = await this.#startAgain()
    }
  }

  /** Waits for the end of a process. */
  async #watch(replica: Replica): Promise<void> {
    let lastAtMs: number | null = null
    const watching = setInterval(() => {
      const last = replica.log.at(-1)?.message ?? ''
      if (lastWords.some((word) => last.startsWith(word))) lastAtMs ??= performance.now()
    }, 100)
    const [code] = (await once(replica.process, 'exit')) as [number | null]
    clearInterval(watching)
    this.logs.push(replica.err)
    if (lastAtMs !== null) this.lastWordsMs.push(performance.now() - lastAtMs)
    if (!this.#isOver) this.codes.push(code)
    this.current = null
  }

  /** Starts it until it answers, as the database or the remote may be away; null at the end. */
  async #startAgain(): Promise<Replica | null> {
    while (!this.#isOver) {
      try {
        this.current = await this.#start()
        if (this.#isOver) this.current.process.kill('SIGTERM')
        return this.current
      } catch (error) {
        this.logs.push(String(error))
        await sleep(restartMs)
      }
    }
    return null
  }
}
