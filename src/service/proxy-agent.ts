import { Agent, EnvHttpProxyAgent } from 'undici'
import type { Dispatcher } from './transport.ts'

/**
 * Creates a dispatcher that uses proxies. Loaded only if a proxy is configured, since the library
 * is large.
 */
export function createProxyAgent(options: EnvHttpProxyAgent.Options): Dispatcher {
  return new EnvHttpProxyAgent(options)
}

/** Creates a dispatcher that uses no proxy and ignores the environment. */
export function createDirectAgent(): Dispatcher {
  return new Agent()
}
