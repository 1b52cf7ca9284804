import type { Answer, Transport } from '../../src/service/transport.ts'
import type { Chance } from './chance.ts'
import type { Faults } from './faults.ts'
import type { Laws } from './laws.ts'
import type { Process } from './machine.ts'
import type { Service } from './service.ts'
import type { World } from './world.ts'

/** One call of the service, from its departure until nothing more can come of it. */
export interface Call {
  process: Process
  number: number
  domains: string[]
  items: string[]
  /** The items of which only a part is sent, to be added to or taken from what is held. */
  deltas: string[]
  /** Whether it may still take effect. */
  mayLand: boolean
  /** When its sender gives it up at the latest. */
  givenUpAt: number
  /** When its sender heard of it, or gave it up; null while it waits. */
  endedAt: number | null
}

/** What may become of a call on its way. */
type Fate = 'well' | 'unreached' | 'lost request' | 'lost answer' | 'server error' | 'nonsense'

/** HTTP statuses that say what came of a call whatever else was answered. */
const saysAll = new Set([401, 404, 429])

/** The way between the client and the service. */
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

  /** What a process gives its client. */
  createTransport(process: Process): Transport {
    return (request) => {
      if (!process.alive || process.mayDie('before: a call is sent')) return new Promise(() => {})
      if (request.body === undefined)
        throw new TypeError(`expected a write, got a read of ${new URL(request.url).pathname}`)
      const { body } = request
      const { domains, config } = JSON.parse(body) as {
        domains: string
        config: Record<string, unknown>
      }
      const call: Call = {
        process,
        number: ++this.#calls,
        domains: domains.split(','),
        items: Object.keys(config),
        deltas: Object.keys(config).filter((item) => isDelta(config[item])),
        mayLand: true,
        givenUpAt: this.#world.time + request.timeoutMs,
        endedAt: null,
      }
      process.log(
        `sends call ${call.number}: ${Object.entries(config)
          .map(([item, payload]) => `${item} ${JSON.stringify(payload)}`)
          .join(', ')} → ${domains}`,
      )
      if (call.deltas.length > 0) this.#world.count('calls with a delta')
      this.#laws.departs(call)
      const answer = this.#carry(call, body, request.timeoutMs)
      process.mayDie(`after: call ${call.number} was sent`)
      return answer
    }
  }

  #carry(call: Call, body: string, timeoutMs: number): Promise<Answer> {
    const { process } = call
    const { chance } = process
    const fate = this.#fate(process)
    const slow = chance.happens(this.#faults.slow)
    if (slow) this.#world.count('network: slow')
    const way = () => (slow ? chance.between(1, 40_000) : chance.between(5, 400))
    // Whatever is still under way lands at the latest so long after its sender can have given it
    // up.
    const latest = this.#world.time + timeoutMs + this.#settleMs - 1
    return new Promise((resolve, reject) => {
      const hear = (ms: number, what: string, certain: boolean, then: () => void) => {
        process.after(ms, () => {
          if (call.endedAt !== null) return
          call.endedAt = this.#world.time
          if (process.mayDie(`before: it hears of call ${call.number}`)) return
          process.log(`call ${call.number} ends: ${what}`)
          this.#laws.ends(call, certain)
          then()
        })
      }
      const fail = (ms: number, code: string) =>
        hear(ms, code, fate === 'unreached', () => reject(failure(code)))
      const answer = (ms: number, said: Answer & { code?: number }) =>
        hear(
          ms,
          `HTTP ${said.status}, code ${said.code ?? '-'}`,
          fate === 'well' || saysAll.has(said.status),
          () => resolve(said),
        )

      hear(timeoutMs, 'no answer in time', false, () => {
        this.#world.count('network: time-out')
        reject(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
      })
      const late = chance.happens(this.#faults.late)
      if (fate === 'unreached' || (fate === 'lost request' && !late)) call.mayLand = false
      if (fate === 'unreached')
        return fail(way(), chance.pick(['ECONNREFUSED', 'ENOTFOUND', 'UND_ERR_CONNECT_TIMEOUT']))
      if (fate === 'lost request' && !late)
        return chance.happens(0.5) ? fail(way(), 'ECONNRESET') : undefined
      const toDoor = Math.min(way(), timeoutMs - 1)
      this.#world.after(toDoor, () => {
        if (this.#isOver(call)) return
        this.#laws.arrives(call)
        if (fate !== 'server error' && fate !== 'lost request')
          return this.#handle(call, body, way() / 4, (said) =>
            this.#comesBack(fate, said, way(), { answer, fail, chance }),
          )
        const ms = way()
        if (fate === 'lost request') fail(ms, 'ECONNRESET')
        else answer(ms, failing(chance))
        if (!late && chance.happens(0.4)) {
          call.mayLand = false
          return
        }
        if (late) this.#world.count('network: late effect')
        // Behind the door that failed, the write may be carried out all the same, at once or later.
        const lands = late ? ms + chance.between(0, this.#settleMs - 1) : chance.between(0, ms)
        this.#handle(call, body, Math.min(lands, latest - this.#world.time), () => {})
      })
    })
  }

  #fate(process: Process): Fate {
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
    then: (said: Answer & { code: number }) => void,
    held = false,
  ): void {
    this.#world.after(ms, () => {
      if (this.#isOver(call)) return
      const { diedAt, chance } = call.process
      if (!held && diedAt < this.#world.time && chance.happens(this.#faults.late)) {
        // What nobody waits for any more may be held up on the way.
        this.#world.count('network: late effect')
        return this.#handle(
          call,
          body,
          chance.between(0, diedAt + this.#settleMs - 1 - this.#world.time),
          then,
          true,
        )
      }
      call.mayLand = false
      void this.#service.write(body).then((said) => {
        this.#world.log('service', `call ${call.number}: HTTP ${said.status}, code ${said.code}`)
        if (said.status === 429 || said.code === 429001) this.#world.count('service: throttled')
        this.#laws.lands(call, said)
        then(said)
      })
    })
  }

  /**
   * What a process sent that died since is as good as given up; nothing comes of it any more once
   * that has settled.
   */
  #isOver(call: Call): boolean {
    const over = this.#world.time >= call.process.diedAt + this.#settleMs
    if (over) call.mayLand = false
    return over
  }

  #comesBack(
    fate: Fate,
    said: Answer & { code: number },
    ms: number,
    to: {
      answer(ms: number, said: Answer): void
      fail(ms: number, code: string): void
      chance: Chance
    },
  ): void {
    if (fate === 'well') return to.answer(ms, said)
    if (fate === 'nonsense') {
      const half = said.body.slice(0, said.body.length / 2)
      return to.answer(ms, {
        ...said,
        body: to.chance.pick([half, '<html>It works!</html>', '{}', '{"code": "0"}']),
      })
    }
    // Lost: the connection breaks, or nothing is heard until the call is given up.
    if (to.chance.happens(0.5))
      to.fail(ms, to.chance.pick(['ECONNRESET', 'UND_ERR_SOCKET', 'EPIPE']))
  }
}

function failing(chance: Chance): Answer {
  const body = chance.pick(['', '<h1>Bad gateway</h1>', '{"code": 500001, "message": "failed"}'])
  return { status: chance.pick([500, 502, 503, 504]), header: () => null, body }
}

/** As `fetch` fails. */
function failure(code: string): TypeError {
  return new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) })
}

function isDelta(payload: unknown): boolean {
  const { mode, type } = (payload ?? {}) as { mode?: unknown; type?: unknown }
  return mode === 'append' || type === 'add' || type === 'remove'
}
