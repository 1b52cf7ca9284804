import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A span as a receiver got it. */
export interface ReceivedSpan {
  name: string
  traceId: string
  spanId: string
  parentSpanId: string
  traceState: string
  /** 1 internal, 3 client. */
  kind: number
  isError: boolean
  attributes: Record<string, unknown>
  events: { name: string; attributes: Record<string, unknown> }[]
}

/** An HTTP request of an exporter. */
interface Received {
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
}

/** How a receiver answers. */
export type Behaviour = 'accept' | 'refuse' | 'drip'

interface JsonValue {
  key: string
  value: Record<string, unknown>
}
interface JsonSpan {
  name: string
  traceId: string
  spanId: string
  parentSpanId?: string
  traceState?: string
  kind: number
  status?: { code?: number }
  attributes: JsonValue[]
  events: { name: string; attributes: JsonValue[] }[]
}
interface JsonExport {
  resourceSpans: { resource: { attributes: JsonValue[] }; scopeSpans: { spans: JsonSpan[] }[] }[]
}

/** Receiver of traces over OTLP. */
export class OtlpReceiver {
  readonly url: string
  readonly requests: Received[] = []
  behaviour: Behaviour = 'accept'
  readonly #server: Server

  private constructor(server: Server, url: string) {
    this.#server = server
    this.url = url
  }

  static async start(): Promise<OtlpReceiver> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const receiver = new OtlpReceiver(server, `http://127.0.0.1:${port}`)
    server.on('request', (request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const { url: path = '', headers } = request
        receiver.requests.push({ path, headers, body: Buffer.concat(chunks) })
        if (receiver.behaviour === 'drip') {
          response.writeHead(200)
          const drop = setInterval(() => response.write(' '), 100)
          response.on('close', () => clearInterval(drop))
          return
        }
        response.writeHead(receiver.behaviour === 'accept' ? 200 : 500)
        response.end()
      })
    })
    return receiver
  }

  /** Bytes of all requests. */
  get raw(): string {
    return this.requests.map(({ body }) => body.toString('latin1')).join('\n')
  }

  /** Spans of all requests in JSON, in the order in which they ended. */
  get spans(): ReceivedSpan[] {
    return this.#exports().flatMap(({ scopeSpans }) =>
      scopeSpans.flatMap(({ spans }) => spans.map(toSpan)),
    )
  }

  /** Attributes of the resource. */
  get resource(): Record<string, unknown> {
    return toObject(this.#exports()[0]?.resource.attributes ?? [])
  }

  /** Draws the spans as a tree: a line for each, with marks of failures. */
  draw(): string[] {
    const all = this.spans
    const ids = new Set(all.map(({ spanId }) => spanId))
    const list = (children: ReceivedSpan[], depth: number): string[] =>
      children.flatMap(({ name, spanId, isError }) => [
        `${'  '.repeat(depth)}${name}${isError ? ' (failed)' : ''}`,
        ...list(
          all.filter(({ parentSpanId }) => parentSpanId === spanId),
          depth + 1,
        ),
      ])
    return list(
      all.filter(({ parentSpanId }) => !ids.has(parentSpanId)),
      0,
    )
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  #exports(): JsonExport['resourceSpans'] {
    return this.requests.flatMap(
      ({ body }) => (JSON.parse(body.toString()) as JsonExport).resourceSpans,
    )
  }
}

function toSpan(span: JsonSpan): ReceivedSpan {
  const { name, traceId, spanId, parentSpanId = '', traceState = '', kind, status } = span
  const isError = status?.code === 2
  const events = span.events.map((event) => ({
    name: event.name,
    attributes: toObject(event.attributes),
  }))
  const attributes = toObject(span.attributes)
  return { name, traceId, spanId, parentSpanId, traceState, kind, isError, attributes, events }
}

function toObject(values: JsonValue[]): Record<string, unknown> {
  return Object.fromEntries(values.map(({ key, value }) => [key, Object.values(value)[0]]))
}
