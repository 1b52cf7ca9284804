import { Agent, EnvHttpProxyAgent } from 'undici'
import type { Dispatcher } from './transport.ts'

/**
 * Returns a dispatcher that goes through proxies. Imported where a proxy is named only, since the
 * library is large.
 */
export function createProxyAgent(options: EnvHttpProxyAgent.Options): Dispatcher {
  return new EnvHttpProxyAgent(options)
}

/** Returns a dispatcher that goes through no proxy, whatever the environment says. */
export function createDirectAgent(): Dispatcher {
  return new Agent()
}
