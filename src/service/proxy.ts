import { isLoopback } from '../model/loopback.ts'
import type { Dispatcher } from './transport.ts'

/**
 * The dispatcher through which calls to `url` have to go, or undefined for a direct connection.
 * HTTPS_PROXY, HTTP_PROXY and NO_PROXY count in either letter case. The library is loaded only
 * where a proxy is named.
 *
 * Plain http to this machine goes through no proxy: it would carry the token to another one.
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
  // Node itself may heed the environment (NODE_USE_ENV_PROXY), so that direct has to be asked for.
  if (protocol === 'http:' && isLoopback(hostname)) return createDirectAgent()
  return createProxyAgent({
    httpProxy,
    httpsProxy,
    noProxy: value('NO_PROXY') ?? '',
  })
}
