import type { Json } from '../../model/json.ts'
import type { Store } from '../store/store.ts'
import type { EmulatorRequest } from './exchange.ts'
import { Refusal } from './refusal.ts'

const prefix = '/_emulator/'

/** Whether a path belongs to the control surface. */
export function isControl(path: string): boolean {
  return path.startsWith(prefix)
}

/**
 * Answers a call of the control surface: for tests and demonstrations, without token, for programs on the same machine.
 * Throws a Refusal (HTTP 404) for everything else.
 */
export function control({ method, path, peer }: EmulatorRequest, store: Store, open: boolean): Json {
  if (!open) throw new Refusal('url-wrong', 'the control surface is closed')
  if (!isLoopback(peer)) throw new Refusal('url-wrong', 'the control surface answers on loopback only')
  switch (`${method} ${path}`) {
    case 'GET /_emulator/state':
      return { domains: Object.fromEntries(store.held().map(([domain, items]) => [domain, Object.fromEntries(items)])) }
    case 'GET /_emulator/calls':
      return store.calls().map((call) => ({ ...call }))
    case 'POST /_emulator/reset':
      store.reset()
      return { code: 0 }
    default:
      throw new Refusal('url-wrong', `there is no ${method} ${path}`)
  }
}

function isLoopback(address: string): boolean {
  return address === '::1' || /^(?:::ffff:)?127\.\d+\.\d+\.\d+$/.test(address)
}
