import { ServiceTime } from '../service/service-time.ts'
import { traceCalls } from '../service/trace-calls.ts'
import { formatLength } from '../model/words.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { createTransport } from './connect.ts'
import type { Outside } from './outside.ts'

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
  workspace: LoadedWorkspace,
  outside: Outside,
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
  { config: { service } }: LoadedWorkspace,
  outside: Outside,
  time: ServiceTime,
): Promise<number | null> {
  // The emulator inside this process follows its clock.
  if (service.url === 'emulator') return outside.clock.now()
  const calls = await createTransport(service.url, outside)
  const transport = time.watch(traceCalls(calls, outside.tracer))
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
