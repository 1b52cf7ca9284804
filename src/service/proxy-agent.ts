import type { EnvHttpProxyAgent as Agents } from 'undici'
import connect from 'undici/lib/api/api-connect.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import AnyDispatcher from 'undici/lib/dispatcher/dispatcher.js'
import EnvHttpProxyAgent from 'undici/lib/dispatcher/env-http-proxy-agent.js'
import type { Dispatcher } from './transport.ts'

// The whole library, three times as large, gives its dispatchers their methods. An agent for
// proxies calls this one.
Object.assign(AnyDispatcher.prototype, { connect })

/**
 * Creates a dispatcher that uses proxies. Loaded only if a proxy is configured, since the library
 * is large.
 */
export function createProxyAgent(options: Agents.Options): Dispatcher {
  return new EnvHttpProxyAgent(options)
}

/** Creates a dispatcher that uses no proxy and ignores the environment. */
export function createDirectAgent(): Dispatcher {
  return new Agent()
}
