import { Agent, EnvHttpProxyAgent } from 'undici'

/** A dispatcher that goes through proxies. Loaded by `import('./proxy-agent.ts')` where a proxy is named, since the library is large. */
export function proxyAgent(options: EnvHttpProxyAgent.Options): RequestInit['dispatcher'] {
  const agent: unknown = new EnvHttpProxyAgent(options)
  return agent as RequestInit['dispatcher']
}

/** A dispatcher that goes through no proxy, whatever the environment says. */
export function directAgent(): RequestInit['dispatcher'] {
  const agent: unknown = new Agent()
  return agent as RequestInit['dispatcher']
}
