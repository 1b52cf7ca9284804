import { TextEncoder } from 'node:util'
import type { Fault } from '../../src/emulator/entities/fault.ts'
import { createService } from '../../src/emulator/routes/router.ts'
import { buildWireNames } from '../../src/emulator/routes/wire-names.ts'
import { createTimeZone } from '../../src/model/time-zone.ts'
import { SettableClock } from '../../src/emulator/store/clock.ts'
import { DataLog } from '../../src/emulator/store/data-log.ts'
import { FaultPlan } from '../../src/emulator/store/fault-plan.ts'
import { Store } from '../../src/emulator/store/store.ts'
import type { Domain, ItemKey, Value } from '../../src/model/item.ts'
import type { Answer } from '../../src/service/transport.ts'
import type { World } from './world.ts'

/** An answer of the service: status and code say what came of the call. */
export interface Answered extends Answer {
  code: number
}

/** The emulator itself, without its sockets and on the world's time. */
export class Service {
  readonly #store: Store
  readonly #faults: FaultPlan
  readonly #answer: ReturnType<typeof createService>
  readonly #world: World
  #requests = 0

  constructor(
    world: World,
    seed: string,
    callsPerMinute: number,
    limitStyle: 'status' | 'body',
    faults: Fault[],
  ) {
    this.#world = world
    this.#store = new Store(
      { domains: null, callsPerMinute, listDeadOrigins: [] },
      new DataLog(null),
    )
    this.#faults = new FaultPlan(seed, faults)
    this.#answer = createService(
      { store: this.#store, clock: new SettableClock(() => world.time), faults: this.#faults },
      {
        token: 'sesame',
        names: buildWireNames({}),
        lenient: false,
        limitStyle,
        control: false,
        zone: createTimeZone('UTC'),
        seed,
        requestId: () => `r${++this.#requests}`,
      },
    )
  }

  /** Does one write, now. */
  async write(body: string): Promise<Answered> {
    const answer = await this.#answer({
      method: 'POST',
      path: '/v2/domain/config',
      query: '',
      contentType: 'application/json',
      contentEncoding: undefined,
      body: new TextEncoder().encode(body),
      peer: '192.0.2.1',
      arrivedAt: this.#world.time,
    })
    const said = answer.body as { code: number; message?: string }
    const headers = new Map(
      Object.entries(answer.headers).map(([name, value]) => [name.toLowerCase(), value]),
    )
    return {
      status: answer.status,
      code: said.code,
      header: (name) => headers.get(name.toLowerCase()) ?? null,
      body: JSON.stringify(said),
    }
  }

  holds(domain: Domain): ReadonlyMap<ItemKey, Value> {
    return this.#store.getItems(domain)
  }

  domains(): Domain[] {
    return this.#store.listDomains()
  }

  /** From now on it does what it should. */
  heal(): void {
    this.#faults.replace([])
  }
}
