import { resolve } from 'node:path'
import type { Workspace } from '../manifest/workspace.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { createClient } from '../service/write/client.ts'
import { createDispatcher } from '../service/proxy.ts'
import { createQueryClient, type QueryClientOptions } from '../service/query/query-client.ts'
import { createNetworkTransport } from '../service/transport.ts'
import type { Outside } from './outside.ts'
import type { LoadedWorkspace } from './load-workspace.ts'

type OnWait = QueryClientOptions['onWait']

/**
 * Connects to the service that the workspace names, for writes and queries. An emulator that it
 * asks for runs until the connection is closed.
 *
 * @param onWait called with each wait that the service demands of queries, ms
 * @throws EdgewiseError `access` when there is no token
 */
export async function connect(workspace: LoadedWorkspace, outside: Outside, onWait?: OnWait) {
  const { config, root } = workspace
  const { service } = config
  const inside = service.url === 'emulator'
  const token = inside ? service.token || 'emulator' : service.token
  if (token === '') {
    throw new EdgewiseError(
      'access',
      `no token for ${service.url}`,
      'Set the environment variable EDGEWISE_TOKEN, or "service.token" in edgewise.yaml.',
    )
  }
  const emulator = inside ? await startInside(root, config, outside) : null
  const url = emulator?.url ?? service.url
  const transport =
    outside.transport ?? createNetworkTransport(await createDispatcher(url, outside.env))
  const connection = {
    url,
    token,
    timeoutMs: service.timeoutSeconds * 1000,
    itemKeys: service.itemKeys,
    scrub: (text: string) => workspace.scrub(text),
    transport,
  }
  const queries = createQueryClient({
    connection,
    timezone: service.timezone,
    maxWaitMs: config.limits.maxWaitSeconds * 1000,
    clock: outside.clock,
    random: () => outside.random(),
    signal: outside.signal,
    onWait,
  })
  return { client: createClient(connection), queries, close: async () => emulator?.close() }
}

/**
 * The emulator that `service.url: emulator` asks for. It keeps what it is told beside the
 * workspace.
 */
async function startInside(root: string, config: Workspace['config'], outside: Outside) {
  const { startEmulator } = await import('../emulator/emulator.ts')
  let calls = 0
  return startEmulator(
    {
      token: null,
      domains: null,
      callsPerMinute: config.limits.callsPerMinute,
      itemKeys: config.service.itemKeys,
      control: false,
      lenient: false,
      limitStyle: 'status',
      seed: config.id,
      timezone: config.service.timezone,
      deadOrigins: [],
      faults: [],
      dataFile: resolve(root, '.edgewise', 'emulator.json'),
      now: () => outside.clock.now(),
      requestId: () => `${outside.clock.now().toString(36)}-${++calls}`,
    },
    { host: '127.0.0.1', port: 0 },
  )
}
