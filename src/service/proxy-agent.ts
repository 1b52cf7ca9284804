import { EnvHttpProxyAgent } from 'undici'

/** A dispatcher that goes through proxies. Loaded by `import('./proxy-agent.ts')` where a proxy is named, since the library is large. */
export function proxyAgent(options: EnvHttpProxyAgent.Options): RequestInit['dispatcher'] {
  const agent: unknown = new EnvHttpProxyAgent(options)
  return agent as RequestInit['dispatcher']
}
