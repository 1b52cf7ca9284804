import { createService } from '../../src/emulator/routes/router.ts'
import type { EmulatorAnswer, EmulatorRequest } from '../../src/emulator/routes/exchange.ts'
import { wireNames } from '../../src/emulator/routes/wire-names.ts'
import { Store, type Saved } from '../../src/emulator/store/store.ts'
import type { Json, JsonObject } from '../../src/model/json.ts'

export interface WorldOptions {
  token?: string | null
  domains?: string[] | null
  callsPerMinute?: number
  itemKeys?: Record<string, string>
  control?: boolean
  lenient?: boolean
  save?: (saved: Saved) => void
}

/** A service without sockets, whose clock stands until it is moved. */
export interface World {
  clock: { now: number }
  request(request: Partial<Omit<EmulatorRequest, 'body'>> & { body?: Uint8Array | string }): Promise<EmulatorAnswer>
  /** A JSON write with the good token. */
  write(config: Json, domains?: Json): Promise<EmulatorAnswer>
  state(): Promise<Json>
  calls(): Promise<JsonObject[]>
}

export function world(options: WorldOptions = {}): World {
  const clock = { now: Date.UTC(2026, 10, 20) }
  let answered = 0
  const store = new Store({
    domains: options.domains === undefined || options.domains === null ? null : new Set(options.domains),
    callsPerMinute: options.callsPerMinute ?? 0,
    saved: { domains: new Map(), writeTimes: [] },
    save: options.save ?? (() => {}),
  })
  const service = createService(store, {
    token: options.token === undefined ? 'tok' : options.token,
    names: wireNames(options.itemKeys ?? {}),
    lenient: options.lenient ?? false,
    control: options.control ?? true,
    now: () => clock.now,
    requestId: () => `request-${++answered}`,
  })
  const request: World['request'] = (given) =>
    service({
      method: 'POST',
      path: '/v2/domain/config',
      query: '',
      contentType: 'application/json',
      contentEncoding: undefined,
      peer: '127.0.0.1',
      arrivedAt: clock.now,
      ...given,
      body: given.body === 'too large' ? 'too large' : Buffer.from(given.body ?? ''),
    })
  const look = async (path: string): Promise<Json> => (await request({ method: 'GET', path })).body
  return {
    clock,
    request,
    write: (config, domains = 'www.example.com') => request({ body: JSON.stringify({ token: 'tok', domains, config }) }),
    state: async () => ((await look('/_emulator/state')) as JsonObject)['domains'] ?? null,
    calls: async () => (await look('/_emulator/calls')) as JsonObject[],
  }
}
