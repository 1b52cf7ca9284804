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

  /** Spans of all requests, in the order in which they ended. */
  get spans(): ReceivedSpan[] {
    return this.#exports().flatMap((each) =>
      each.list(2).flatMap((scope) => scope.list(2).map(toSpan)),
    )
  }

  /** Attributes of the resource. */
  get resource(): Record<string, unknown> {
    return Object.assign(
      {},
      ...this.#exports().flatMap((each) => each.list(1).map(toAttributes(1))),
    )
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

  #exports(): Message[] {
    return this.requests.flatMap(({ body }) => new Message(body).list(1))
  }
}

/** Builds a span from its message (opentelemetry/proto/trace/v1/trace.proto). */
function toSpan(span: Message): ReceivedSpan {
  return {
    name: span.text(5),
    traceId: span.text(1, 'hex'),
    spanId: span.text(2, 'hex'),
    parentSpanId: span.text(4, 'hex'),
    traceState: span.text(3),
    kind: span.number(6),
    isError: span.list(15).some((status) => status.number(3) === 2),
    attributes: toAttributes(9)(span),
    events: span
      .list(11)
      .map((event) => ({ name: event.text(2), attributes: toAttributes(3)(event) })),
  }
}

const toAttributes =
  (field: number) =>
  (message: Message): Record<string, unknown> =>
    Object.fromEntries(
      message.list(field).map((pair) => [pair.text(1), pair.list(2)[0]?.findValue()]),
    )

/** Message of Protocol Buffers, by the numbers of its fields. */
class Message {
  readonly #fields: { number: number; value: Buffer | number }[] = []

  constructor(bytes: Buffer) {
    let at = 0
    const readVarint = () => {
      let [value, factor] = [0, 1]
      for (; ; factor *= 128) {
        const byte = bytes[at++] ?? 0
        value += (byte % 128) * factor
        if (byte < 128) return value
      }
    }
    const skip = (length: number) => bytes.subarray(at, (at += length))
    while (at < bytes.length) {
      const tag = readVarint()
      const read = {
        0: readVarint,
        1: () => skip(8).readDoubleLE(),
        2: () => skip(readVarint()),
        5: () => skip(4).readFloatLE(),
      }[tag % 8]
      if (read === undefined) throw new Error(`unknown wire type in ${bytes.toString('hex')}`)
      this.#fields.push({ number: Math.floor(tag / 8), value: read() })
    }
  }

  list(field: number): Message[] {
    return this.#fields.flatMap(({ number, value }) =>
      number === field && typeof value !== 'number' ? [new Message(value)] : [],
    )
  }

  text(field: number, encoding: 'utf8' | 'hex' = 'utf8'): string {
    const value = this.#fields.find(({ number }) => number === field)?.value
    return typeof value === 'number' ? String(value) : (value?.toString(encoding) ?? '')
  }

  number(field: number): number {
    return Number(this.#fields.find(({ number }) => number === field)?.value ?? 0)
  }

  /** Returns the value of an attribute: a text, a boolean or a number. */
  findValue(): unknown {
    const [first] = this.#fields
    if (first === undefined || typeof first.value !== 'number') return this.text(1)
    return first.number === 2 ? first.value === 1 : first.value
  }
}
