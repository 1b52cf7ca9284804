import { startEmulator } from '../../src/emulator/emulator.ts'
import { isObject, type Json } from '../../src/core/model/json.ts'
import { createNetworkTransport, type Answer, type Transport } from '../../src/service/transport.ts'
import { start } from './fuzz-world.ts'

/** An answer as data, so that it can be mutated. */
export type PlainAnswer = { status: number; headers: Record<string, string>; body: string }

/** Plays an answer back. */
export function toAnswer({ status, headers, body }: PlainAnswer): Answer {
  const byName = new Map(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  )
  return { status, header: (name) => byName.get(name.toLowerCase()) ?? null, body }
}

/** Answers each write as the service does that accepts everything. */
export function buildWriteAnswer(body: string): PlainAnswer {
  const sent = JSON.parse(body) as { domains: string; config: Json }
  return {
    status: 200,
    headers: { 'X-Ratelimit-Remaining': '29', 'X-Retry-After': '60' },
    body: JSON.stringify({
      code: 0,
      message: 'success',
      domains: sent.domains.split(','),
      data: { config: sent.config, domains: sent.domains.split(',') },
    }),
  }
}

/** Records the answers of an emulator to queries, by path. */
export async function recordAnswers(
  ask: (transport: Transport, url: string) => Promise<void>,
): Promise<Map<string, PlainAnswer>> {
  const recorded = new Map<string, PlainAnswer>()
  const service = await startEmulator(
    {
      token: null,
      domains: null,
      callsPerMinute: 0,
      itemKeys: {},
      control: false,
      lenient: false,
      dataFile: null,
      now: () => start,
      requestId: () => 'request',
      limitStyle: 'status',
      seed: 'fuzz',
      timezone: 'UTC',
      deadOrigins: [],
      faults: [],
    },
    { host: '127.0.0.1', port: 0 },
  )
  const network = createNetworkTransport()
  try {
    await ask(async (request) => {
      const answer = await network({ ...request, url: toLocal(request.url, service.url) })
      const names = ['Date', 'X-Ratelimit-Remaining', 'X-Retry-After']
      recorded.set(new URL(request.url).pathname, {
        status: answer.status,
        headers: Object.fromEntries(names.map((name) => [name, answer.header(name) ?? ''])),
        body: answer.body,
      })
      return answer
    }, service.url)
  } finally {
    await service.close()
  }
  return recorded
}

function toLocal(url: string, service: string): string {
  const { pathname, search } = new URL(url)
  return `${service}${pathname}${search}`
}

/** Parses a mutated answer; a text that is no such object becomes the body. */
export function parsePlainAnswer(text: string): PlainAnswer {
  let data: Json
  try {
    data = JSON.parse(text) as Json
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { status: 200, headers: {}, body: text }
  }
  if (!isObject(data)) return { status: 200, headers: {}, body: text }
  const { status, headers, body } = data
  return {
    status: typeof status === 'number' ? status : 200,
    headers: Object.fromEntries(
      Object.entries(isObject(headers ?? null) ? (headers as object) : {}).map(([name, value]) => [
        name,
        String(value),
      ]),
    ),
    body: typeof body === 'string' ? body : JSON.stringify(body ?? null),
  }
}
