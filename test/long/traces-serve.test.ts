// @module-tag often
// @module-tag nightly

import { ended } from '../server/replica.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { commit, enterServed, name, setServeStage, start } from '../server/serve-stage.ts'
import { token } from '../steps/cli.ts'
import { place, setStage } from '../steps/stage.ts'
import { OtlpReceiver } from '../telemetry/otlp-receiver.ts'

setStage()
setServeStage()
let receiver: OtlpReceiver
beforeEach(async () => {
  receiver = await OtlpReceiver.start()
})
afterEach(() => receiver.close())

it('each piece of work of a controller is a trace, which is sent when it stops', async () => {
  enterServed('rollout: {waves: [1, 100%], pause: 7s}\n')
  Object.assign(place.env, {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_BSP_SCHEDULE_DELAY: '3600000',
    TRACEPARENT: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  })
  for (const i of [1, 2]) place.manifest(name(i), { timeout: { time: 60 } })
  const head = commit()
  const replica = await start()
  await replica.waitFor(ended(head, 'waiting'))
  await replica.waitFor(ended(head, 'done'))
  expect((await replica.get('/api/plan')).status).toBe(200)
  expect(receiver.requests).toEqual([])
  expect(await replica.end('SIGTERM')).toBe(143)
  expect(replica.log.at(-1)?.message).toBe('replica stopped')

  const { spans } = receiver
  const roots = spans.filter(({ parentSpanId }) => parentSpanId === '')
  expect(new Set(roots.map(({ traceId }) => traceId)).size).toBe(roots.length)
  const failures = roots.flatMap(({ attributes }) => attributes['error.type'] ?? [])
  expect(failures.filter((type) => type !== 'interrupted')).toEqual([])
  expect(spans.filter(({ traceId }) => traceId.startsWith('0af765'))).toEqual([])
  expect(roots.filter((span) => !span.name.startsWith('serve '))).toEqual([])
  const find = (root: string, status: string) =>
    roots.find(
      ({ name: own, attributes }) => own === root && attributes['edgewise.status'] === status,
    )
  const first = find('serve apply', 'waiting')
  expect(first?.attributes).toMatchObject({
    'edgewise.workspace': 'default',
    'edgewise.commit': head,
    'edgewise.writes.confirmed': 1,
  })
  const listBelow = (root: typeof first) =>
    spans.flatMap(({ traceId, name: own }) => (traceId === root?.traceId ? own : []))
  expect(listBelow(first)).toEqual(expect.arrayContaining(['load state', 'plan', 'write', 'POST']))
  const step = find('serve rollout step', 'done')
  expect(step?.attributes['edgewise.rollout']).toBe(first?.attributes['edgewise.rollout'])
  expect(listBelow(step)).toEqual(expect.arrayContaining(['wait for lock', 'watch wave', 'wave']))
  expect(receiver.raw).not.toContain(token)
  const instance = replica.log[0]?.['replica']
  expect(receiver.resource['service.instance.id']).toBe(instance)
})
