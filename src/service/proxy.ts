/**
 * The dispatcher through which calls to `url` have to go, or undefined for a direct connection. HTTPS_PROXY, HTTP_PROXY
 * and NO_PROXY count in either letter case. The library is loaded only where a proxy is named.
 */
export async function proxyDispatcher(env: Record<string, string | undefined>): Promise<RequestInit['dispatcher']> {
  const value = (name: string) => env[name.toLowerCase()] || env[name] || undefined
  const httpProxy = value('HTTP_PROXY')
  const httpsProxy = value('HTTPS_PROXY')
  if (httpProxy === undefined && httpsProxy === undefined) return undefined
  const { proxyAgent } = await import('./proxy-agent.ts')
  return proxyAgent({
    ...(httpProxy === undefined ? {} : { httpProxy }),
    ...(httpsProxy === undefined ? {} : { httpsProxy }),
    noProxy: value('NO_PROXY') ?? '',
  })
}
