import { isLoopback } from '../model/loopback.ts'
import type { Dispatcher } from './transport.ts'

/**
 * Creates the dispatcher for calls to `url`; undefined for a direct connection. HTTPS_PROXY,
 * HTTP_PROXY and NO_PROXY count in either letter case. The library is loaded only if a proxy is
 * configured.
 *
 * Plain http to this machine uses no proxy, which would carry the token to another machine.
 */
export async function createDispatcher(
  url: string,
  env: Record<string, string | undefined>,
): Promise<Dispatcher | undefined> {
  const value = (name: string) => env[name.toLowerCase()] || env[name] || undefined
  const httpProxy = value('HTTP_PROXY')
  const httpsProxy = value('HTTPS_PROXY')
  if (httpProxy === undefined && httpsProxy === undefined) return undefined
  const { createDirectAgent, createProxyAgent } = await import('./proxy-agent.ts')
  const { protocol, hostname } = new URL(url)
  // Node itself may follow the environment (NODE_USE_ENV_PROXY), so a direct connection must be
  // explicit.
  if (protocol === 'http:' && isLoopback(hostname)) return createDirectAgent()
  return createProxyAgent({
    httpProxy,
    httpsProxy,
    noProxy: value('NO_PROXY') ?? '',
  })
}
