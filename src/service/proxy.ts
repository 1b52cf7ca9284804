import { EdgewiseError } from '../core/model/edgewise-error.ts'
import { isLoopback, parseUrl } from '../core/model/text/url.ts'
import type { Dispatcher } from './transport.ts'

/**
 * Creates the dispatcher for calls to `url`; undefined for a direct connection. HTTPS_PROXY,
 * HTTP_PROXY and NO_PROXY count in either letter case. The library is loaded only if a proxy is
 * configured.
 *
 * Plain http to this machine uses no proxy, which would carry the token to another machine.
 *
 * @throws EdgewiseError `usage` if the value of a variable is not the address of a proxy
 */
export async function createDispatcher(
  url: string,
  env: Record<string, string | undefined>,
): Promise<Dispatcher | undefined> {
  const value = (name: string) => env[name.toLowerCase()] || env[name] || undefined
  const httpProxy = checkProxy('HTTP_PROXY', value('HTTP_PROXY'))
  const httpsProxy = checkProxy('HTTPS_PROXY', value('HTTPS_PROXY'))
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

/** Checks the address of a proxy. It may contain a password, so the message does not show it. */
function checkProxy(name: string, address: string | undefined): string | undefined {
  if (address === undefined || isProxy(address)) return address
  throw new EdgewiseError(
    'usage',
    `the variable ${name} (or ${name.toLowerCase()}) is not the address of a proxy`,
    'Expected an address such as http://proxy.example.net:3128, with "%" in a user name or ' +
      'password written as "%25". Correct the variable, or unset it.',
  )
}

function isProxy(address: string): boolean {
  const parsed = parseUrl(address)
  if (parsed === null) return false
  const { protocol, hostname, username, password } = parsed
  const isKnown = ['http:', 'https:', 'socks:', 'socks5:'].includes(protocol)
  return isKnown && hostname !== '' && [username, password].every(isPercentEncoded)
}

/** Tests whether the percent-encoding of a text can be decoded. */
function isPercentEncoded(text: string): boolean {
  try {
    return decodeURIComponent(text) !== null
  } catch (error) {
    if (error instanceof URIError) return false
    throw error
  }
}
