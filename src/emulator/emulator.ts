import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { canonicalizeAddress } from '../core/catalog/value/formats.ts'
import { EdgewiseError } from '../core/model/edgewise-error.ts'
import type { ItemKey } from '../core/model/item.ts'
import { isLoopback } from '../core/model/text/url.ts'
import { createListener } from './http/listener.ts'
import { createService, type ServiceRules } from './routes/router.ts'
import { buildWireNames } from './routes/wire-names.ts'
import type { Fault } from './entities/fault.ts'
import { createTimeZone, type TimeZone } from '../core/model/time/time-zone.ts'
import { SettableClock } from './store/clock.ts'
import { DataFile } from './store/data-file.ts'
import { FaultPlan } from './store/fault-plan.ts'
import { Store } from './store/store.ts'

export interface EmulatorOptions extends Omit<ServiceRules, 'names' | 'zone' | 'onLoopback'> {
  /** Null: every well-formed domain exists. */
  domains: string[] | null
  /** Maximum writes in 60 seconds; 0 is unlimited. */
  callsPerMinute: number
  /** Item → an additional wire name. */
  itemKeys: Record<ItemKey, string>
  /** File that keeps the configuration across processes; null for none. */
  dataFile: string | null
  /** IANA name of the time zone of dates. */
  timezone: string
  /** Addresses of origins that do not answer. */
  deadOrigins: string[]
  /** Initial faults. */
  faults: Fault[]
  /** Wall clock, in milliseconds. */
  now: () => number
}

export interface Emulator {
  url: string
  port: number
  /** Closes all connections immediately and stops listening. */
  close(): Promise<void>
}

/**
 * Starts the service on this machine; port 0 uses any free port.
 *
 * @throws EdgewiseError `record-damaged` for an unreadable data file, `usage` for colliding wire
 *   names or an unknown time zone, `unavailable` if it cannot listen
 */
export async function startEmulator(
  options: EmulatorOptions,
  listen: { host: string; port: number },
): Promise<Emulator> {
  const onLoopback = listensOnLoopback(listen.host)
  const zone = parseZone(options.timezone)
  const names = buildWireNames(options.itemKeys)
  const file = new DataFile(options.dataFile)
  const clock = new SettableClock(options.now)
  const store = new Store(
    {
      domains:
        options.domains === null
          ? null
          : new Set(options.domains.map((domain) => domain.toLowerCase())),
      callsPerMinute: options.callsPerMinute,
      deadOrigins: options.deadOrigins.map(canonicalizeAddress),
      extended: options.extended === true,
    },
    file,
  )
  const service = createService(
    { store, clock, faults: new FaultPlan(options.seed, options.faults) },
    { ...options, control: options.control && onLoopback, onLoopback, names, zone },
  )
  const server = createListener(service, () => clock.now())
  const { port } = await listenOn(server, listen)
  return {
    url: `http://${formatUrlHost(listen.host)}:${port}`,
    port,
    close: () => close(server).finally(() => file.flush()),
  }
}

function parseZone(name: string): TimeZone {
  try {
    return createTimeZone(name)
  } catch (error) {
    if (error instanceof RangeError)
      throw new EdgewiseError(
        'usage',
        `unknown time zone "${name}"`,
        'Use an IANA name such as Asia/Shanghai.',
      )
    throw error
  }
}

function listenOn(
  server: Server,
  { host, port }: { host: string; port: number },
): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      reject(
        new EdgewiseError(
          'unavailable',
          `the emulator can't listen on ${host}, port ${port}: ${error.message}`,
          'Choose another port; 0 uses any free port.',
        ),
      )
    })
    server.listen({ host, port }, () => resolve(server.address() as AddressInfo))
  })
}

/** Reports whether a listening address is reached from this machine only. */
export function listensOnLoopback(host: string): boolean {
  return isLoopback(host.includes(':') ? `[${host}]` : host)
}

/** Formats a listening address for clients on this machine. */
function formatUrlHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

function close(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)))
    server.closeAllConnections()
  })
}
