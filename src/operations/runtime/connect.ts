import type { Configured, Settings, Calling, Outside } from './parts.ts'
import { resolve } from 'node:path'
import { listCatalogueNames } from '../../core/catalog/catalogue.ts'
import { refuseLinkIn } from '../../files/find-link.ts'
import { emulatorCallsPerMinute } from '../../manifest/workspace-file/workspace-config.ts'
import type { Workspace } from '../../manifest/workspace-file/workspace.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { createDispatcher } from '../../service/proxy.ts'
import {
  createQueryClient,
  type QueryClientOptions,
  type QueryClient,
} from '../../service/query/query-client.ts'
import { ServiceTime } from '../../service/service-time.ts'
import { traceCalls } from '../../service/trace-calls.ts'
import { createNetworkTransport, type Transport } from '../../service/transport.ts'
import { findCheckout } from '../../state/git/find-repository.ts'
import { formatLength } from '../../core/model/text/words.ts'

interface ConnectOptions {
  /** Learns the service's time from each answer. */
  time?: ServiceTime
  /** Called with each wait that the service demands of queries, ms. */
  onWait?: QueryClientOptions['onWait']
}

/**
 * Refuses a token that is missing or can't be one; the emulator inside the process needs none.
 *
 * @throws EdgewiseError `access`
 */
export function refuseBadToken(workspace: Settings): void {
  const { token, url, writtenUrl } = workspace.config.service
  if (url === 'emulator') return
  const fault = workspace.explainTokenFault()
  if (token !== '' && fault === null) return
  throw new EdgewiseError(
    'access',
    fault === null
      ? `no token for ${writtenUrl}: ${workspace.explainMissing('/service/token')}`
      : `the token for ${writtenUrl} is not usable: ${fault}; nothing was sent`,
    fault === null
      ? 'Set it to the access token of the service.'
      : 'Set it to the token alone, without blanks and line breaks around it.',
  )
}

/**
 * Connects to the workspace's service for queries; `connectToWrite` has the client of writes. With
 * `service.url: emulator`, starts the emulator, which runs until the connection is closed.
 *
 * @throws EdgewiseError `access` when there is no token, or an unusable one
 */
export async function connectToQuery(
  workspace: Settings,
  outside: Outside,
  { time = new ServiceTime(outside.clock), onWait }: ConnectOptions = {},
) {
  const { config, root } = workspace
  const { service } = config
  const isEmbedded = service.url === 'emulator'
  refuseBadToken(workspace)
  const token = isEmbedded ? service.token || 'emulator' : service.token
  const emulator = isEmbedded ? await startEmbeddedEmulator(root, config, outside) : null
  const url = emulator?.url ?? service.url
  const transport = time.watch(traceCalls(await createTransport(url, outside)))
  const connection = {
    url,
    writtenUrl: isEmbedded ? undefined : service.writtenUrl,
    token,
    timeoutMs: service.timeoutSeconds * 1000,
    itemKeys: service.itemKeys,
    names: listCatalogueNames(),
    scrub: workspace.scrub,
    transport,
  }
  const queries = createQueryClient({
    connection,
    timezone: service.timezone,
    readsPerMinute: config.limits.readsPerMinute,
    maxWaitMs: config.limits.maxWaitSeconds * 1000,
    clock: outside.clock,
    serviceNow: () => time.now(),
    random: () => outside.random(),
    signal: outside.signal,
    onWait,
  })
  return { connection, queries, close: async () => emulator?.close() }
}

/** Creates the transport to an address: that of the outside, otherwise the network. */
export async function createTransport(url: string, outside: Calling): Promise<Transport> {
  return outside.transport ?? createNetworkTransport(await createDispatcher(url, outside.env))
}

/** Starts the emulator for `service.url: emulator`. Its data are persisted beside the workspace. */
async function startEmbeddedEmulator(root: string, config: Workspace['config'], outside: Outside) {
  const { startEmulator } = await import('../../emulator/emulator.ts')
  const { callsPerMinute } = config.limits
  const dataFile = resolve(root, '.edgewise', 'emulator.json')
  refuseLinkIn(findCheckout(root) ?? root, dataFile)
  let calls = 0
  return startEmulator(
    {
      token: null,
      domains: null,
      // Counting so many calls would take it longer than answering them.
      callsPerMinute: callsPerMinute === emulatorCallsPerMinute ? 0 : callsPerMinute,
      itemKeys: config.service.itemKeys,
      control: false,
      lenient: false,
      extended: config.service.readBack || config.service.unset,
      limitStyle: 'status',
      seed: config.id,
      timezone: config.service.timezone,
      deadOrigins: [],
      faults: [],
      dataFile,
      now: () => outside.clock.now(),
      requestId: () => `${outside.clock.now().toString(36)}-${++calls}`,
    },
    { host: '127.0.0.1', port: 0 },
  )
}

/** Ports of queries: the outside world and progress reports. */
export interface QueryPorts<T> {
  outside: Outside
  /** Called with each wait that the service demands, ms. */
  onWait(ms: number): void
  /** Starts a progress report of the queries. */
  startProgress(): QueryProgress<T>
}

/** Progress report of queries. */
export interface QueryProgress<T> {
  report(progress: T): void
  end(): void
}

/**
 * Connects to the service for some queries: statistics and prefetch tasks. Needs the token, but
 * neither state nor the lock.
 *
 * @throws EdgewiseError `access` when there is no token, and the errors of the queries
 */
export async function withQueries<T>(
  workspace: Settings,
  { outside, time, onWait }: { outside: Outside; time?: ServiceTime; onWait?(ms: number): void },
  work: (queries: QueryClient) => Promise<T>,
): Promise<T> {
  const { queries, close } = await connectToQuery(workspace, outside, { time, onWait })
  try {
    return await work(queries)
  } finally {
    await close()
  }
}

/** The service's clock for the calls of one operation. */
export interface SharedServiceTime {
  time: ServiceTime
  /** Returns the service's time, ms since 1970, with a call if it is unknown; null without it. */
  ask(): Promise<number | null>
}

/**
 * Creates the service's clock for an operation.
 *
 * @param warn called once if this machine's clock and the service's differ by over a minute
 */
export function createServiceTime(
  workspace: Configured,
  outside: Calling,
  warn: (text: string) => void,
): SharedServiceTime {
  const time = new ServiceTime(outside.clock, (skewMs) => warn(describeSkew(skewMs)))
  return { time, ask: async () => time.now() ?? askService(workspace, outside, time) }
}

/**
 * Asks the service for its time: any answer has it, so that the call needs neither a token nor a
 * known path, and does not count as a write.
 */
async function askService(
  { config: { service } }: Configured,
  outside: Calling,
  time: ServiceTime,
): Promise<number | null> {
  // The emulator inside this process follows its clock.
  if (service.url === 'emulator') return outside.clock.now()
  const calls = await createTransport(service.url, outside)
  const transport = time.watch(traceCalls(calls))
  const request = { url: `${service.url}/v2/`, timeoutMs: service.timeoutSeconds * 1000 }
  // Without an answer the time stays unknown; the calls that follow report why.
  return transport({ ...request, signal: outside.signal }).then(
    () => time.now(),
    () => null,
  )
}

function describeSkew(skewMs: number): string {
  const side = skewMs > 0 ? 'ahead of' : 'behind'
  return (
    `this machine's clock is ${formatLength(Math.abs(skewMs))} ${side} the service's. Health ` +
    "checks, pauses and freeze windows use the service's time; correct this machine's clock"
  )
}
