import { createService } from '../../src/emulator/routes/router.ts'
import {
  JsonText,
  type EmulatorAnswer,
  type EmulatorRequest,
} from '../../src/emulator/routes/exchange.ts'
import { buildWireNames } from '../../src/emulator/routes/wire-names.ts'
import { SettableClock } from '../../src/emulator/store/clock.ts'
import { DataFile } from '../../src/emulator/store/data-file.ts'
import { FaultPlan } from '../../src/emulator/store/fault-plan.ts'
import { Store } from '../../src/emulator/store/store.ts'
import type { Fault } from '../../src/emulator/entities/fault.ts'
import { createTimeZone } from '../../src/core/model/time/time-zone.ts'
import type { Json, JsonObject } from '../../src/core/model/json.ts'

export interface WorldOptions {
  token?: string | null
  domains?: string[] | null
  callsPerMinute?: number
  itemKeys?: Record<string, string>
  control?: boolean
  onLoopback?: boolean
  lenient?: boolean
  limitStyle?: 'status' | 'body'
  extended?: boolean
  deployMs?: number
  seed?: string
  timezone?: string
  deadOrigins?: string[]
  faults?: Fault[]
  dataFile?: string
}

/** A service without sockets, whose clock stands still until it is moved. */
export interface World {
  clock: { now: number }
  request(
    request: Partial<Omit<EmulatorRequest, 'body'>> & { body?: Uint8Array | string },
  ): Promise<EmulatorAnswer & { body: Json }>
  /** Sends a query with the valid token. */
  query(path: string, query: Record<string, string>): Promise<EmulatorAnswer & { body: Json }>
  /** Sends a query like `query`, without parsing the text of the answer. */
  queryRaw(path: string, query: Record<string, string>): Promise<EmulatorAnswer>
  /** Sends a call of the control surface. */
  postControl(path: string, body: Json): Promise<EmulatorAnswer>
  /** Sends a JSON write with the valid token. */
  write(config: Json, domains?: Json): Promise<EmulatorAnswer & { body: Json }>
  state(): Promise<Json>
  /** Writes the data file, as the end of the process does. */
  end(): void
  calls(): Promise<JsonObject[]>
}

export function createWorld(options: WorldOptions = {}): World {
  const clock = { now: Date.UTC(2026, 10, 20) }
  let answered = 0
  const file = new DataFile(options.dataFile ?? null)
  const store = new Store(
    {
      domains:
        options.domains === undefined || options.domains === null ? null : new Set(options.domains),
      callsPerMinute: options.callsPerMinute ?? 0,
      deadOrigins: options.deadOrigins ?? [],
      extended: options.extended ?? false,
    },
    file,
  )
  const set = new SettableClock(() => clock.now)
  const answer = createService(
    { store, clock: set, faults: new FaultPlan(options.seed ?? 'test', options.faults ?? []) },
    {
      token: options.token === undefined ? 'tok' : options.token,
      names: buildWireNames(options.itemKeys ?? {}),
      lenient: options.lenient ?? false,
      limitStyle: options.limitStyle ?? 'status',
      extended: options.extended ?? false,
      deployMs: options.deployMs ?? 0,
      seed: options.seed ?? 'test',
      zone: createTimeZone(options.timezone ?? 'UTC'),
      control: options.control ?? true,
      onLoopback: options.onLoopback ?? true,
      requestId: () => `request-${++answered}`,
    },
  )
  const service = async (given: EmulatorRequest): Promise<EmulatorAnswer & { body: Json }> => {
    const { body, ...rest } = await answer(given)
    return { ...rest, body: body instanceof JsonText ? (JSON.parse(body.text) as Json) : body }
  }
  const whole = (given: Parameters<World['request']>[0]): EmulatorRequest => ({
    method: 'POST',
    path: '/v2/domain/config',
    query: '',
    headers: {},
    contentType: 'application/json',
    contentEncoding: undefined,
    host: '127.0.0.1:8080',
    origin: undefined,
    fetchSite: undefined,
    peer: '127.0.0.1',
    arrivedAt: clock.now,
    ...given,
    body: given.body === 'too large' ? 'too large' : Buffer.from(given.body ?? ''),
  })
  const request: World['request'] = (given) => service(whole(given))
  const reading = (path: string, query: Record<string, string>) => ({
    method: 'GET',
    path,
    query: String(new URLSearchParams({ token: 'tok', ...query })),
  })
  const look = async (path: string): Promise<Json> => (await request({ method: 'GET', path })).body
  return {
    clock,
    request,
    query: (path, query) => request(reading(path, query)),
    queryRaw: (path, query) => answer(whole(reading(path, query))),
    postControl: (path, body) =>
      request({ path: `/_emulator/${path}`, body: JSON.stringify(body) }),
    write: (config, domains = 'www.example.com') =>
      request({ body: JSON.stringify({ token: 'tok', domains, config }) }),
    state: async () => ((await look('/_emulator/state')) as JsonObject)['domains'] ?? null,
    calls: async () => (await look('/_emulator/calls')) as JsonObject[],
    end: () => file.flush(),
  }
}
