import { canonicalizeItems } from '../../src/emulator/entities/configure.ts'
import { TextEncoder } from 'node:util'
import type { Fault } from '../../src/emulator/entities/fault.ts'
import { JsonText } from '../../src/emulator/routes/exchange.ts'
import { Refusal } from '../../src/emulator/routes/refusal.ts'
import { createService } from '../../src/emulator/routes/router.ts'
import { buildWireNames } from '../../src/emulator/routes/wire-names.ts'
import { createTimeZone } from '../../src/core/model/time/time-zone.ts'
import { SettableClock } from '../../src/emulator/store/clock.ts'
import { DataFile } from '../../src/emulator/store/data-file.ts'
import { FaultPlan } from '../../src/emulator/store/fault-plan.ts'
import { Store } from '../../src/emulator/store/store.ts'
import type { Domain, ItemKey, Value } from '../../src/core/model/item.ts'
import type { Answer } from '../../src/service/transport.ts'
import { unsetConfig } from './unset-config.ts'
import type { World } from './world.ts'

/** Answer of the service; status and code give the outcome of the call. */
export interface Answered extends Answer {
  code: number
}

/** Emulator without sockets, on the time of the world. */
export class Service {
  /** Number of the writes of each domain that were done. */
  readonly writes = new Map<Domain, number>()
  readonly #store: Store
  readonly #faults: FaultPlan
  readonly #answer: ReturnType<typeof createService>
  readonly #world: World
  readonly #limitStyle: 'status' | 'body'
  #requests = 0

  constructor(
    world: World,
    seed: string,
    callsPerMinute: number,
    limitStyle: 'status' | 'body',
    faults: Fault[],
    deadOrigins: string[] = [],
  ) {
    this.#world = world
    this.#limitStyle = limitStyle
    this.#store = new Store({ domains: null, callsPerMinute, deadOrigins }, new DataFile(null))
    this.#faults = new FaultPlan(seed, faults)
    this.#answer = createService(
      { store: this.#store, clock: new SettableClock(() => world.time), faults: this.#faults },
      {
        token: 'sesame',
        names: buildWireNames({}),
        lenient: false,
        limitStyle,
        control: false,
        onLoopback: false,
        zone: createTimeZone('UTC'),
        seed,
        requestId: () => `r${++this.#requests}`,
      },
    )
  }

  /** Handles one write, now. */
  async write(body: string): Promise<Answered> {
    const answered = await this.#handle('POST', '/v2/domain/config', '', body)
    if (answered.code !== 0) return answered
    const { domains } = JSON.parse(body) as { domains: string }
    for (const domain of domains.split(','))
      this.writes.set(domain, (this.writes.get(domain) ?? 0) + 1)
    return answered
  }

  /** Handles one DELETE, now: only accounts beyond the specification have it. */
  async unset(body: string): Promise<Answered> {
    const { time } = this.#world
    const count = () => this.#store.getCallCount(time)
    const answer = (status: number, code: number, message?: string): Answered => {
      const { remaining, resetSeconds } = count()
      const headers = new Map([
        ['x-ratelimit-remaining', String(remaining)],
        ['x-retry-after', String(resetSeconds)],
        ['date', new Date(time).toUTCString()],
      ])
      const header = (name: string) => headers.get(name.toLowerCase()) ?? null
      return { status, code, header, body: JSON.stringify({ code, message }) }
    }
    try {
      const request = JSON.parse(body) as { domains: string; config: ItemKey[] }
      unsetConfig(request, this.#store, this.#faults, time)
      return answer(200, 0)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const isInBody = error.status === 429 && this.#limitStyle === 'body'
      return answer(isInBody ? 200 : error.status, error.code, error.message)
    }
  }

  /** Handles one query, now. */
  query(url: string): Promise<Answered> {
    const { pathname, search } = new URL(url)
    return this.#handle('GET', pathname, search.slice(1), '')
  }

  async #handle(method: string, path: string, query: string, body: string): Promise<Answered> {
    const answer = await this.#answer({
      method,
      path,
      query,
      headers: {},
      contentType: 'application/json',
      contentEncoding: undefined,
      host: undefined,
      origin: undefined,
      fetchSite: undefined,
      body: new TextEncoder().encode(body),
      peer: '192.0.2.1',
      arrivedAt: this.#world.time,
    })
    const text = answer.body instanceof JsonText ? answer.body.text : JSON.stringify(answer.body)
    const { code } = JSON.parse(text) as { code: number }
    const headers = new Map(
      Object.entries(answer.headers).map(([name, value]) => [name.toLowerCase(), value]),
    )
    return {
      status: answer.status,
      code,
      header: (name) => headers.get(name.toLowerCase()) ?? null,
      body: text,
    }
  }

  holds(domain: Domain): ReadonlyMap<ItemKey, Value> {
    return new Map(Object.entries(canonicalizeItems(this.#store.getItems(domain))))
  }

  /** Changes an item as another client of the account. */
  change(domain: Domain, item: ItemKey, value: Value): void {
    const items = new Map([...this.#store.getItems(domain), [item, value]])
    this.#store.configure(new Map([[domain, items]]), this.#world.time)
  }

  /** Sets the origins that do not answer from now on. */
  setDeadOrigins(dead: string[]): void {
    this.#store.setDeadOrigins(dead, this.#world.time)
  }

  domains(): Domain[] {
    return this.#store.listDomains()
  }

  /** Replaces the faults of the service. */
  setFaults(faults: Fault[]): void {
    this.#faults.replace(faults)
  }

  /** Ends all faults of the service. */
  heal(): void {
    this.#faults.replace([])
  }
}
