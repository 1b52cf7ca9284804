import type { Answer, Transport } from '../../src/service/transport.ts'
import type { Chance } from './chance.ts'
import type { Faults } from './faults.ts'
import type { Laws } from './laws.ts'
import type { Process } from './machine.ts'
import type { Service } from './service.ts'
import type { World } from './world.ts'

/** One call of the service, from its departure until it can have no further effect. */
export interface Call {
  process: Process
  number: number
  domains: string[]
  items: string[]
  /** Items that are sent as a delta. */
  deltas: string[]
  /** Payloads by item; null for each item of a DELETE. */
  config: Record<string, unknown>
  /** Whether it is a DELETE, which unsets its items. */
  deletes: boolean
  /**
   * Whether its sender was suspended between its last check and its socket: the one step in which
   * a process that lost its lock can still send.
   */
  stalled: boolean
  /** True while the call may still take effect. */
  mayLand: boolean
  /** Time at which its sender got an answer, or abandons it at the latest. */
  givenUpAt: number
  /** Time at which its sender got an answer or abandoned it; null while it waits. */
  endedAt: number | null
}

/** Fate of a call on its way. */
type Fate = 'well' | 'unreached' | 'lost request' | 'lost answer' | 'server error' | 'nonsense'

/** HTTP statuses that determine the outcome regardless of the rest of the answer. */
const certainStatuses = new Set([401, 404, 429])

/** Network between client and service. */
export class Network {
  readonly #world: World
  readonly #service: Service
  readonly #laws: Laws
  readonly #settleMs: number
  #calls = 0
  readonly #faults: Faults

  constructor(world: World, service: Service, laws: Laws, settleMs: number, faults: Faults) {
    this.#world = world
    this.#service = service
    this.#laws = laws
    this.#settleMs = settleMs
    this.#faults = faults
  }

  /** Suspends a process that is about to send a call. */
  onStall: (process: Process) => void = () => {}

  /** Creates the transport of a process. */
  createTransport(process: Process): Transport {
    return async (request) => {
      if (!process.alive || process.mayDie('before: a call is sent')) return new Promise(() => {})
      const stalled = this.#faults.stalled > 0 && process.chance.happens(this.#faults.stalled)
      if (stalled) {
        this.#world.count('process: stalled before its socket')
        this.onStall(process)
        await process.sleep(0)
      }
      const { body, url, method } = request
      if (body === undefined) return this.#query(process, url)
      const deletes = method === 'DELETE'
      const { domains, config: given } = JSON.parse(body) as {
        domains: string
        config: Record<string, unknown> | string[]
      }
      if (url.includes('?') || deletes !== Array.isArray(given))
        this.#world.violated('calls are well formed', `${method ?? 'POST'} ${url} ${body}`)
      const config = Array.isArray(given)
        ? Object.fromEntries(given.map((item) => [item, null]))
        : given
      const call: Call = {
        process,
        number: ++this.#calls,
        domains: domains.split(','),
        items: Object.keys(config),
        config,
        deletes,
        deltas: Object.keys(config).filter((item) => isDelta(config[item])),
        stalled,
        mayLand: true,
        givenUpAt: this.#world.time + request.timeoutMs,
        endedAt: null,
      }
      process.log(
        `${deletes ? 'deletes by' : 'sends'} call ${call.number}: ${Object.entries(config)
          .map(([item, payload]) => `${item} ${JSON.stringify(payload)}`)
          .join(', ')} → ${domains}`,
      )
      if (call.deltas.length > 0) this.#world.count('calls with a delta')
      if (deletes) this.#world.count('calls that delete')
      this.#laws.departs(call)
      const answer = this.#carry(call, body, request.timeoutMs)
      process.mayDie(`after: call ${call.number} was sent`)
      return answer
    }
  }

  /** Carries a question, which changes nothing; it may be lost. */
  #query(process: Process, url: string): Promise<Answer> {
    const { chance } = process
    const isLost = this.#drawFate(process) !== 'well'
    return new Promise((resolve, reject) => {
      process.after(chance.between(5, 400), () => {
        if (isLost) return reject(createFetchError('ECONNRESET'))
        void this.#service.query(url).then((answered) => {
          process.after(chance.between(5, 400), () => resolve(answered))
        })
      })
    })
  }

  #carry(call: Call, body: string, timeoutMs: number): Promise<Answer> {
    const { process } = call
    const { chance } = process
    const fate = this.#drawFate(process)
    const slow = chance.happens(this.#faults.slow)
    if (slow) this.#world.count('network: slow')
    const drawDelay = () => (slow ? chance.between(1, 40_000) : chance.between(5, 400))
    // A call in flight takes effect at the latest so long after its sender may have abandoned it.
    const latest = this.#world.time + timeoutMs + this.#settleMs - 1
    return new Promise((resolve, reject) => {
      const finish = (ms: number, what: string, certain: boolean, then: () => void) => {
        process.after(ms, () => {
          if (call.endedAt !== null) return
          call.endedAt = this.#world.time
          call.givenUpAt = Math.min(call.givenUpAt, this.#world.time)
          if (process.mayDie(`before: it gets the answer of call ${call.number}`)) return
          process.log(`call ${call.number} ends: ${what}`)
          this.#laws.ends(call, certain)
          then()
        })
      }
      const fail = (ms: number, code: string) =>
        finish(ms, code, fate === 'unreached', () => reject(createFetchError(code)))
      const answer = (ms: number, answered: Answer & { code?: number }) =>
        finish(
          ms,
          `HTTP ${answered.status}, code ${answered.code ?? '-'}`,
          fate === 'well' || certainStatuses.has(answered.status),
          () => resolve(answered),
        )

      finish(timeoutMs, 'no answer in time', false, () => {
        this.#world.count('network: time-out')
        reject(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
      })
      const late = chance.happens(this.#faults.late)
      if (fate === 'unreached' || (fate === 'lost request' && !late)) call.mayLand = false
      if (fate === 'unreached')
        return fail(
          drawDelay(),
          chance.pick(['ECONNREFUSED', 'ENOTFOUND', 'UND_ERR_CONNECT_TIMEOUT']),
        )
      if (fate === 'lost request' && !late)
        return chance.happens(0.5) ? fail(drawDelay(), 'ECONNRESET') : undefined
      const toDoor = Math.min(drawDelay(), timeoutMs - 1)
      this.#world.after(toDoor, () => {
        if (this.#isOver(call)) return
        this.#laws.arrives(call)
        if (fate !== 'server error' && fate !== 'lost request')
          return this.#handle(call, body, drawDelay() / 4, (answered) =>
            this.#deliver(fate, answered, drawDelay(), { answer, fail, chance }),
          )
        const ms = drawDelay()
        if (fate === 'lost request') fail(ms, 'ECONNRESET')
        else answer(ms, createServerError(chance))
        if (!late && chance.happens(0.4)) {
          call.mayLand = false
          return
        }
        if (late) this.#world.count('network: late effect')
        // The write may take effect behind a failing front end, at once or later.
        const lands = late ? ms + chance.between(0, this.#settleMs - 1) : chance.between(0, ms)
        this.#handle(call, body, Math.min(lands, latest - this.#world.time), () => {})
      })
    })
  }

  #drawFate(process: Process): Fate {
    const { chance } = process
    const { unreached, lostRequest, lostAnswer, serverError, nonsense } = this.#faults
    const fates: [Fate, number][] = [
      ['unreached', unreached],
      ['lost request', lostRequest],
      ['lost answer', lostAnswer],
      ['server error', serverError],
      ['nonsense', nonsense],
    ]
    const fate = fates.find(([, probability]) => chance.happens(probability))?.[0] ?? 'well'
    if (fate !== 'well') this.#world.count(`network: ${fate}`)
    return fate
  }

  #handle(
    call: Call,
    body: string,
    ms: number,
    then: (answered: Answer & { code: number }) => void,
    isDelayed = false,
  ): void {
    this.#world.after(ms, () => {
      if (this.#isOver(call)) return
      const { diedAt, chance } = call.process
      if (!isDelayed && diedAt < this.#world.time && chance.happens(this.#faults.late)) {
        // A call without a waiting sender may be delayed on the way.
        this.#world.count('network: late effect')
        const longest = call.givenUpAt + this.#settleMs - 1 - this.#world.time
        return this.#handle(call, body, chance.between(0, longest), then, true)
      }
      call.mayLand = false
      const answering = call.deletes ? this.#service.unset(body) : this.#service.write(body)
      void answering.then((answered) => {
        this.#world.log(
          'service',
          `call ${call.number}: HTTP ${answered.status}, code ${answered.code}`,
        )
        if (answered.status === 429 || answered.code === 429001)
          this.#world.count('service: throttled')
        this.#laws.lands(call, answered)
        then(answered)
      })
    })
  }

  /**
   * Returns whether a call can have no further effect: its process died, and its timeout and
   * settling time are over.
   */
  #isOver(call: Call): boolean {
    const isDead = call.process.diedAt <= this.#world.time
    const over = isDead && this.#world.time >= call.givenUpAt + this.#settleMs
    if (over) call.mayLand = false
    return over
  }

  #deliver(
    fate: Fate,
    answered: Answer & { code: number },
    ms: number,
    to: {
      answer(ms: number, answered: Answer): void
      fail(ms: number, code: string): void
      chance: Chance
    },
  ): void {
    if (fate === 'well') return to.answer(ms, answered)
    if (fate === 'nonsense') {
      const half = answered.body.slice(0, answered.body.length / 2)
      return to.answer(ms, {
        ...answered,
        body: to.chance.pick([half, '<html>It works!</html>', '{}', '{"code": "0"}']),
      })
    }
    // Lost: the connection breaks, or there is no answer until the call is abandoned.
    if (to.chance.happens(0.5))
      to.fail(ms, to.chance.pick(['ECONNRESET', 'UND_ERR_SOCKET', 'EPIPE']))
  }
}

function createServerError(chance: Chance): Answer {
  const body = chance.pick(['', '<h1>Bad gateway</h1>', '{"code": 500001, "message": "failed"}'])
  return { status: chance.pick([500, 502, 503, 504]), header: () => null, body }
}

/** Creates an error as `fetch` throws it. */
function createFetchError(code: string): TypeError {
  return new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) })
}

function isDelta(payload: unknown): boolean {
  const { mode, type } = (payload ?? {}) as { mode?: unknown; type?: unknown }
  return mode === 'append' || type === 'add' || type === 'remove'
}
