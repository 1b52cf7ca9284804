import { lookup as lookUp } from 'node:dns'
import { request as requestHttp, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as requestHttps } from 'node:https'
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net'

/** A request that the runner sends itself: to where, and as what. */
export interface ProbeRequest {
  protocol: 'http' | 'https'
  /** Name or IP address to connect to. */
  address: string
  port: number
  /** `Host` header; a certificate must be that of its name. */
  host: string
  /** Path and query. */
  path: string
  method: 'GET' | 'HEAD'
  headers: Record<string, string>
  /** Whether the address may be this machine: that of an emulator. */
  allowsLoopback: boolean
  signal: AbortSignal
}

/** Sends a probe; returns the status of its answer, 0 without one. Never throws. */
export type Probe = (request: ProbeRequest) => Promise<number>

/** Time for an answer, ms. */
const timeoutMs = 10_000
/** Maximum size of a body that is received, bytes; the rest is not. */
const maxBytes = 64 * 1024

const loopback = createList('127.0.0.0/8 ::1/128')
/** Addresses of this machine or of its network only, such as those of cloud metadata. */
const local = createList(
  '0.0.0.0/8 169.254.0.0/16 100.100.100.200/32 168.63.129.16/32 224.0.0.0/3 ::/96 fe80::/10 ' +
    'fec0::/10 fd00:ec2::/32 ff00::/8',
)

/** Creates a list of networks; those of IPv4 also as NAT64 translates them (RFC 6052). */
function createList(networks: string): BlockList {
  const list = new BlockList()
  for (const network of networks.split(' ')) {
    const [address = '', prefix] = network.split('/')
    if (isIPv6(address)) list.addSubnet(address, Number(prefix), 'ipv6')
    else {
      list.addSubnet(address, Number(prefix))
      list.addSubnet(`64:ff9b::${address}`, 96 + Number(prefix), 'ipv6')
    }
  }
  return list
}

/** Tests whether nothing may be sent to an IP address, which a configuration may name. */
export function isRefusedAddress(address: string, allowsLoopback: boolean): boolean {
  const [bare = ''] = address.split('%', 1)
  const family = isIPv6(bare) ? 'ipv6' : 'ipv4'
  if (loopback.check(bare, family)) return !allowsLoopback
  return local.check(bare, family)
}

/**
 * Sends a probe over the network of this machine, through no proxy. Redirects are not followed, and
 * certificates are verified. An address of `isRefusedAddress`, also of a name, is not connected to.
 */
export const sendProbe: Probe = async (request) => {
  const { protocol, address, port, host, path, method, headers, allowsLoopback } = request
  if (isIP(address) !== 0 && isRefusedAddress(address, allowsLoopback)) return 0
  const name = host.replace(/:\d+$/, '')
  // One of AbortSignal.timeout may be collected if only a combined signal refers to it.
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), timeoutMs)
  const options: RequestOptions & { servername?: string; rejectUnauthorized: boolean } = {
    host: address,
    port,
    path,
    method,
    headers: { ...headers, host },
    lookup: createLookup(allowsLoopback),
    agent: false,
    rejectUnauthorized: true,
    ...(isIP(name) === 0 ? { servername: name } : {}),
    signal: AbortSignal.any([request.signal, late.signal]),
  }
  try {
    return await receive(options, protocol === 'https' ? requestHttps : requestHttp)
  } catch {
    return 0
  } finally {
    clearTimeout(timer)
  }
}

/** Creates a look-up of names that fails for one with a refused address. */
function createLookup(allowsLoopback: boolean): LookupFunction {
  return (name, options, callback) =>
    lookUp(name, { ...options, all: true }, (error, found) => {
      const isRefused = found?.some(({ address }) => isRefusedAddress(address, allowsLoopback))
      if (error !== null) callback(error, [])
      else if (isRefused) callback(new Error(`${name} has an address that is not probed`), [])
      else if (options.all === true) callback(null, found)
      else callback(null, found[0]?.address ?? '', found[0]?.family)
    })
}

function receive(
  options: RequestOptions,
  send: typeof requestHttp | typeof requestHttps,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = send(options, (answer: IncomingMessage) => {
      let size = 0
      const end = () => resolve(answer.statusCode ?? 0)
      answer.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size <= maxBytes) return
        end()
        sent.destroy()
      })
      answer.on('end', end)
      answer.on('error', reject)
    })
    sent.on('error', reject)
    sent.end()
  })
}
