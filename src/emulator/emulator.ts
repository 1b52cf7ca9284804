import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { canonicalizeAddress } from '../catalog/value/formats.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { ItemKey } from '../model/item.ts'
import { createListener } from './http/listener.ts'
import { createService } from './routes/router.ts'
import { buildWireNames } from './routes/wire-names.ts'
import type { Fault } from './entities/fault.ts'
import { createTimeZone, type TimeZone } from '../model/time-zone.ts'
import { SettableClock } from './store/clock.ts'
import { DataLog } from './store/data-log.ts'
import { FaultPlan } from './store/fault-plan.ts'
import { Store } from './store/store.ts'

export interface EmulatorOptions {
  /** Null: any token that is not empty is good. */
  token: string | null
  /** Null: every well-formed domain exists. */
  domains: string[] | null
  /** Writes that may arrive in 60 seconds; 0 refuses nothing. */
  callsPerMinute: number
  /** Item → a wire name that is understood beside its own. */
  itemKeys: Record<ItemKey, string>
  /** Whether `/_emulator` answers, to programs on the same machine. */
  control: boolean
  /** Drop the fields that an item does not have, instead of refusing them. */
  lenient: boolean
  /** Where what was configured outlives the process. */
  dataFile: string | null
  /** How a call over the call rate is refused: with HTTP 429, or with HTTP 200 and a code. */
  limitStyle: 'status' | 'body'
  /** What traffic, faults by probability and prefetches are drawn from. */
  seed: string
  /** IANA name of the zone in which dates are read and written. */
  timezone: string
  /** Addresses of origins that answer nobody. */
  deadOrigins: string[]
  /** What goes wrong from the beginning. */
  faults: Fault[]
  /** Wall clock, in milliseconds. */
  now: () => number
  /** A new value for the `Api-Id` header. */
  requestId: () => string
}

export interface Emulator {
  url: string
  port: number
  /** Ends all connections at once and stops listening. */
  close(): Promise<void>
}

/**
 * Starts the service on this machine; port 0 takes any that is free.
 * @throws EdgewiseError `record-damaged` for a data file that can't be read, `usage` for wire names
 * that collide or no time zone,
 *   `unavailable` where it can't listen.
 */
export async function startEmulator(
  options: EmulatorOptions,
  listen: { host: string; port: number },
): Promise<Emulator> {
  const zone = zoneOf(options.timezone)
  const names = buildWireNames(options.itemKeys)
  const log = new DataLog(options.dataFile)
  const clock = new SettableClock(options.now)
  const store = new Store(
    {
      domains:
        options.domains === null
          ? null
          : new Set(options.domains.map((domain) => domain.toLowerCase())),
      callsPerMinute: options.callsPerMinute,
      listDeadOrigins: options.deadOrigins.map(canonicalizeAddress),
    },
    log,
  )
  const service = createService(
    { store, clock, faults: new FaultPlan(options.seed, options.faults) },
    { ...options, names, zone },
  )
  const server = createListener(service, () => clock.now())
  const { port } = await listening(server, listen)
  return {
    url: `http://${urlHost(listen.host)}:${port}`,
    port,
    close: () => closed(server).finally(() => log.close()),
  }
}

function zoneOf(name: string): TimeZone {
  try {
    return createTimeZone(name)
  } catch (error) {
    if (error instanceof RangeError)
      throw new EdgewiseError(
        'usage',
        `there is no time zone "${name}"`,
        'Give an IANA name such as Asia/Shanghai.',
      )
    throw error
  }
}

function listening(
  server: Server,
  { host, port }: { host: string; port: number },
): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      reject(
        new EdgewiseError(
          'unavailable',
          `the emulator can't listen on ${host}, port ${port}: ${error.message}`,
          'Choose another port; 0 takes any that is free.',
        ),
      )
    })
    server.listen({ host, port }, () => resolve(server.address() as AddressInfo))
  })
}

/** An address on which a server listens, as a client on this machine names it. */
function urlHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)))
    server.closeAllConnections()
  })
}
