import { readFileSync } from 'node:fs'
import { beforeEach, describe, expect, it } from 'vitest'
import { spanAttributes, spanEvents, spanNames } from '../../src/core/model/telemetry.ts'
import { setFaults, token } from '../steps/cli.ts'
import { emulator, place, setStage } from '../steps/stage.ts'
import { enterTraced, find, receiver, setTracedStage, setVariables } from './traced-stage.ts'
import { itLong } from '../runs.ts'

setStage()
setTracedStage()

const secret = 'value-of-a-secret-header'

/** Two domains, of which the service refuses the second. */
async function refuseOne(): Promise<void> {
  enterTraced('secrets: {key: {env: SECRET}}\n')
  place.env['SECRET'] = secret
  const header = { name: 'x-key', value: '${secret:key}' }
  const add_response_head = { list: [header] }
  for (const domain of ['a.example.com', 'b.example.com'])
    place.manifest(domain, { add_response_head })
  await setFaults(emulator, { kind: 'refuse', domain: 'b.example.com' })
}

describe('an apply with a refused write', () => {
  itLong('has a span for each piece of work, and fails where it failed', async () => {
    await refuseOne()
    const { code, err } = await place.cli('apply', '--yes')
    expect(code).toBe(3)
    expect(err).not.toContain('warning')
    expect(receiver.draw()).toEqual([
      'edgewise apply (failed)',
      '  load workspace',
      '  wait for lock',
      '  load state',
      '  plan',
      '  wave',
      '    write (failed)',
      '      POST (failed)',
      '      POST (failed)',
      '      POST',
    ])
    const root = find('edgewise apply')
    expect(root.attributes).toMatchObject({
      'edgewise.workspace': 'default',
      'edgewise.status': 'incomplete',
      'edgewise.apply': expect.stringMatching(/^\d{8}T\d{6}Z-/) as string,
      'edgewise.changes': 2,
      'edgewise.writes': 1,
      'edgewise.writes.confirmed': 0,
      'edgewise.writes.refused': 1,
      'edgewise.exit_code': 3,
      'error.type': 'incomplete',
    })
    expect(find('write').attributes).toEqual({
      'edgewise.write': 1,
      'edgewise.domains': 2,
      'edgewise.items': 1,
      'edgewise.outcome': 'refused',
      'edgewise.service.code': expect.any(Number) as number,
      'error.type': 'refused',
    })
    const { port } = new URL(emulator.url)
    expect(find('POST').attributes).toEqual({
      'http.request.method': 'POST',
      'http.response.status_code': 400,
      'error.type': '400',
      'server.address': '127.0.0.1',
      'server.port': Number(port),
      'url.path': '/v2/domain/config',
    })
    expect(find('POST').kind).toBe(3)
    expect(receiver.resource).toMatchObject({ 'service.name': 'edgewise' })
    expect(
      Object.keys(receiver.resource).filter((name) => /^(host|process|os)/.test(name)),
    ).toEqual([])
  })

  itLong('sends no secret, no value and no text of the service', async () => {
    await refuseOne()
    await place.cli('apply', '--yes')
    expect(find('write').isError).toBe(true)
    for (const text of [token, secret, 'x-key', 'example.com', 'add_response_head'])
      expect(receiver.raw).not.toContain(text)
  })

  itLong('sends the service no header of the trace', async () => {
    await refuseOne()
    const seen: string[] = []
    place.transport = async ({ headers = {} }) => {
      seen.push(...Object.keys(headers))
      return { status: 200, header: () => null, body: '{"code": 0}' }
    }
    await place.cli('apply', '--yes')
    expect(find('POST').isError).toBe(false)
    expect(seen.filter((name) => /trace|baggage/i.test(name))).toEqual([])
  })
})

itLong('a call names its failure, and a write its retries', async () => {
  place.manifest('a.example.com', { timeout: { time: 60 } })
  await setFaults(
    emulator,
    { kind: 'error', on: [1], status: 503 },
    { kind: 'reset-before', on: [2] },
  )
  expect((await place.cli('apply', '--yes')).code).toBe(0)
  const calls = receiver.spans.filter(({ kind }) => kind === 3)
  expect(calls.map(({ attributes }) => attributes['error.type'])).toEqual([
    '503',
    expect.stringMatching(/^(ECONNRESET|UND_ERR_SOCKET)$/) as string,
    undefined,
  ])
  expect(find('write').events.map(({ name }) => name)).toEqual(['retry', 'retry'])
  expect(find('write').events[0]?.attributes).toEqual({
    'edgewise.retry.reason': 'in-doubt',
    'edgewise.wait.seconds': expect.any(Number) as number,
  })
  expect(find('write').isError).toBe(false)
})

it('a write has its waits for the call budget', async () => {
  enterTraced('', { limits: '{burst: 1 per 5s}' })
  for (const [i, domain] of ['a.example.com', 'b.example.com'].entries())
    place.manifest(domain, { timeout: { time: 60 + i } })
  expect((await place.cli('apply', '--yes')).code).toBe(0)
  const waits = receiver.spans.flatMap(({ events }) => events)
  // On a busy machine, the rest of a wait may be one of its own.
  expect([...new Set(waits.map(({ name }) => name))]).toEqual(['call budget wait'])
  expect(waits[0]?.attributes['edgewise.wait.seconds']).toBeGreaterThan(4)
})

itLong('a rollout has waves, and the watch of each', async () => {
  enterTraced('rollout: {waves: [1, 100%], pause: 10m}\n')
  for (const domain of ['a.example.com', 'b.example.com'])
    place.manifest(domain, { timeout: { time: 60 } })
  expect((await place.cli('apply', '--yes')).code).toBe(0)
  expect(receiver.draw().slice(1)).toEqual([
    '  load workspace',
    '  wait for lock',
    '  load state',
    '  plan',
    '  wave',
    '    write',
    '      POST',
    '  watch wave',
    '  wait for lock',
    '  wave',
    '    write',
    '      POST',
  ])
  expect(find('edgewise apply').attributes['edgewise.rollout']).toBeDefined()
})

it('an error is its code, without its message', async () => {
  place.manifest('a.example.com', { timeout: { time: 'not-a-number' } })
  expect((await place.cli('plan')).code).toBe(1)
  expect(find('edgewise plan')).toMatchObject({
    isError: true,
    attributes: { 'error.type': 'invalid' },
  })
  expect(receiver.raw).not.toContain('not-a-number')
})

describe('the parent of a trace', () => {
  const [trace, span] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']

  it('is the span in TRACEPARENT', async () => {
    setVariables({ TRACEPARENT: `00-${trace}-${span}-01`, TRACESTATE: 'vendor=a' })
    await place.cli('plan')
    expect(find('edgewise plan')).toMatchObject({
      traceId: trace,
      parentSpanId: span,
      traceState: 'vendor=a',
    })
  })

  it('decides that nothing is sent if it is not sampled', async () => {
    setVariables({ TRACEPARENT: `00-${trace}-${span}-00` })
    await place.cli('plan')
    expect(receiver.requests).toEqual([])
  })

  it.each([
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace}-${span}-01-x`,
    `ff-${trace}-${span}-01`,
    'x',
  ])('is not %s', async (text) => {
    setVariables({ TRACEPARENT: text })
    const { err } = await place.cli('plan')
    expect(err).toContain('warning: TRACEPARENT is not a trace context')
    expect(find('edgewise plan')).toMatchObject({ parentSpanId: '' })
  })
})

describe('the environment', () => {
  beforeEach(() => place.manifest('a.example.com', { timeout: { time: 60 } }))

  it('is sent as protobuf, to the address for traces, with headers', async () => {
    setVariables({
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/own`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=key-of-the-receiver',
    })
    await place.cli('plan')
    const [request] = receiver.requests
    expect(request?.path).toBe('/own')
    expect(request?.headers['content-type']).toBe('application/x-protobuf')
    expect(request?.headers['x-api-key']).toBe('key-of-the-receiver')
    expect(request?.body.toString('latin1')).toContain('edgewise plan')
    expect(receiver.raw).not.toContain('key-of-the-receiver')
  })

  it.each([
    ['OTEL_SDK_DISABLED', 'TRUE'],
    ['OTEL_TRACES_EXPORTER', 'none'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', ' '],
  ])('can disable traces: %s=%s', async (name, value) => {
    setVariables({ [name]: value })
    expect((await place.cli('plan')).err).not.toContain('warning')
    expect(receiver.requests).toEqual([])
  })

  it.each([
    ['OTEL_TRACES_EXPORTER', 'console', 'Telemetry is off'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'ftp://user:hidden@127.0.0.1', 'Telemetry is off'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'hidden', 'Telemetry is off'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json', 'Telemetry is off'],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', 'hidden', 'ignored'],
    ['OTEL_EXPORTER_OTLP_COMPRESSION', 'hidden', 'ignored'],
    ['OTEL_BSP_MAX_EXPORT_BATCH_SIZE', '0', 'ignored'],
    ['OTEL_BSP_MAX_QUEUE_SIZE', '-1', 'ignored'],
    ['OTEL_TRACES_SAMPLER', 'hidden', 'ignored'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'hidden', 'ignored'],
    ['OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT', 'hidden', 'ignored'],
  ])('is warned of once for %s=%s', async (name, value, what) => {
    setVariables({ [name]: value })
    const { code, err } = await place.cli('plan', '--json')
    expect(code).toBe(0)
    const warnings = err.replaceAll(/\n(?!warning:)/g, ' ').split('\n')
    expect(warnings).toEqual([expect.stringMatching(`^warning: ${name} .*${what}`) as string])
    expect(err).not.toContain('hidden')
    expect(receiver.spans.length > 0).toBe(what === 'ignored')
  })

  it('is warned of a header that can not be sent', async () => {
    setVariables({ OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%0Ab' })
    const { code, err } = await place.cli('plan')
    expect(code).toBe(0)
    expect(err).toContain('OTEL_EXPORTER_OTLP_HEADERS has an invalid header')
  })
})

it('an endpoint that refuses changes nothing but a warning', async () => {
  place.manifest('a.example.com', { timeout: { time: 60 } })
  receiver.behaviour = 'refuse'
  const { code, err } = await place.cli('apply', '--yes')
  expect(code).toBe(0)
  expect(err.match(/warning/g)).toHaveLength(1)
  expect(err.replaceAll('\n', ' ')).toMatch(
    /\d spans could not be exported .*: the answer was HTTP 500/,
  )
})

it('the page has all spans, events and attributes, and no others', () => {
  const page = readFileSync(new URL('../../docs/guides/observe.md', import.meta.url), 'utf8')
  const [, section = ''] = /\n### Spans\n(.*?)\n## /s.exec(page) ?? []
  const named = Array.from(section.matchAll(/`([a-zA-Z][^`\n]*)`/g), ([, name = '']) => name)
  const codes =
    /^(?:edgewise (?:apply|plan|serve)|ERROR|ECONNRESET|worse|interrupted|exit-3|defect)$/
  const others = ['status', '--observed', 'TRACEPARENT']
  const known = new Set<string>([...spanNames, ...spanEvents, ...spanAttributes])
  expect([...known].filter((name) => !named.includes(name))).toEqual([])
  expect(
    named.filter((name) => !known.has(name) && !codes.test(name) && !others.includes(name)),
  ).toEqual([])
})
