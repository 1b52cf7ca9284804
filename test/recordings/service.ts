import { createTimeZone } from '../../src/core/model/time/time-zone.ts'
import { JsonText } from '../../src/emulator/routes/exchange.ts'
import { createService } from '../../src/emulator/routes/router.ts'
import { buildWireNames } from '../../src/emulator/routes/wire-names.ts'
import { SettableClock } from '../../src/emulator/store/clock.ts'
import { DataFile } from '../../src/emulator/store/data-file.ts'
import { FaultPlan } from '../../src/emulator/store/fault-plan.ts'
import { Store } from '../../src/emulator/store/store.ts'
import type { Answer, Request, Transport } from '../../src/service/transport.ts'
import type { RecordedWorkspace } from './workspace.ts'

/** The emulator without sockets, which keeps the calls that it gets. */
export class RecordedService {
  /** Each call since they were taken: method, path, query, headers, body and answer. */
  #calls: string[] = []
  readonly #answer: ReturnType<typeof createService>
  readonly #now: () => number

  constructor(
    token: string,
    { faults = [], extended = false }: Pick<RecordedWorkspace, 'faults' | 'extended'>,
    now: () => number,
  ) {
    let requests = 0
    this.#now = now
    this.#answer = createService(
      {
        store: new Store(
          { domains: null, callsPerMinute: 30, deadOrigins: [], extended },
          new DataFile(null),
        ),
        clock: new SettableClock(now),
        faults: new FaultPlan('recordings', faults),
      },
      {
        token,
        names: buildWireNames({ deny_protocol: 'deny_protocol', error_bcache: 'error_bcache' }),
        lenient: false,
        limitStyle: 'status',
        control: false,
        onLoopback: false,
        zone: createTimeZone('UTC'),
        seed: 'recordings',
        extended,
        requestId: () => `r${++requests}`,
      },
    )
  }

  /** Takes the calls since the last time. */
  takeCalls(): string {
    const calls = this.#calls
    this.#calls = []
    return calls.join('')
  }

  readonly transport: Transport = async (request) => {
    const { method, body = '', headers = {} } = request
    const { pathname: path, search } = new URL(request.url)
    const name = method ?? (request.body === undefined ? 'GET' : 'POST')
    const text = `${name} ${path}${search} ${JSON.stringify(headers)} ${body}`
    const answer = await this.#answer({
      method: name,
      path,
      query: search.slice(1),
      headers,
      contentType: request.body === undefined ? undefined : 'application/json',
      contentEncoding: undefined,
      host: undefined,
      origin: undefined,
      fetchSite: undefined,
      body: new TextEncoder().encode(body),
      peer: '192.0.2.1',
      arrivedAt: this.#now(),
    })
    this.#calls.push(`${text}\n  ${answer.status} ${answer.delivery ?? ''}\n`)
    return deliver(answer, request)
  }
}

type Given = Awaited<ReturnType<ReturnType<typeof createService>>>

/** Turns an answer into that of a transport; a reset throws, as a socket would. */
function deliver({ status, headers, body, delivery }: Given, { url }: Request): Answer {
  if (delivery === 'reset')
    throw Object.assign(new TypeError(`fetch failed: ${url}`), {
      cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
    })
  const text = body instanceof JsonText ? body.text : JSON.stringify(body)
  const found = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return {
    status,
    header: (name) => found.get(name.toLowerCase()) ?? null,
    body:
      delivery === 'not-json'
        ? '<html></html>'
        : delivery === 'truncated'
          ? text.slice(0, text.length / 2)
          : text,
  }
}
