import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { context, ROOT_CONTEXT, trace, type ContextManager } from '@opentelemetry/api'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { describe, expect, it } from 'vitest'
import { EdgewiseError, open, type Edgewise } from '../../src/index.ts'
import * as library from '../../src/index.ts'
import { fetchConfig, Place, fetchWrites } from '../steps/cli.ts'
import { emulator, enterPlace, place, setStage } from '../steps/stage.ts'
import { itLong } from '../runs.ts'

const [a, b] = ['a.example.com', 'b.example.com']

setStage()

const here = (signal?: AbortSignal): Edgewise =>
  open(place.root, { outside: { env: place.env }, ...(signal === undefined ? {} : { signal }) })

/** Adds lines to the workspace file. */
const addLines = (more: string) =>
  place.write('edgewise.yaml', `${place.read('edgewise.yaml')}${more}\n`)

/** Applies two domains twice, then changes their manifests to a third value. */
async function prepare(): Promise<void> {
  for (const time of [59, 60]) {
    for (const domain of [a, b]) place.manifest(domain, { timeout: { time } })
    expect((await here().apply()).status).toBe('done')
  }
  for (const domain of [a, b]) place.manifest(domain, { timeout: { time: 61 } })
}

/** Loads observed configuration that differs from the applied one. */
const observe = () =>
  Promise.resolve({ [a]: { timeout: { time: 5 } }, [b]: { timeout: { time: 5 } } })

/** Operations that change the service. */
const operations: [string, (workspace: Edgewise) => Promise<unknown>][] = [
  ['apply', (workspace) => workspace.apply()],
  ['rollback', (workspace) => workspace.rollback()],
  ['repair', (workspace) => workspace.repair({ observe })],
]

async function refusal(work: Promise<unknown>): Promise<EdgewiseError> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof EdgewiseError)) throw new Error(`expected a refusal, got ${String(error)}`)
  return error
}

it('every member of a given outside is passed on, also from a prototype', async () => {
  const sent: string[] = []
  class Own {
    env = place.env
    onSending(): Promise<void> {
      sent.push('sending')
      return Promise.resolve()
    }
    note(text: string): void {
      sent.push(text)
    }
  }
  const asked = new Set<string | symbol>()
  const given = new Proxy(new Own(), {
    get: (own, name) => {
      asked.add(name)
      return Reflect.get(own, name) as unknown
    },
  })
  place.manifest(a, { timeout: { time: 60 } })
  expect((await open(place.root, { outside: given }).apply()).status).toBe('done')
  expect(sent).toContain('sending')
  expect([...asked]).toEqual(expect.arrayContaining(['note', 'cache', 'onSending']))
})

it('leaves the traces of its program alone', async () => {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  const own = provider.getTracer('program').startSpan('own')
  const contexts: ContextManager = {
    active: () => trace.setSpan(ROOT_CONTEXT, own),
    with: (_, work, self, ...args) => work.apply(self, args),
    bind: (_, target) => target,
    enable: () => contexts,
    disable: () => contexts,
  }
  trace.setGlobalTracerProvider(provider)
  context.setGlobalContextManager(contexts)
  try {
    place.manifest(a, { timeout: { time: 60 } })
    expect((await here().apply()).status).toBe('done')
    expect(exporter.getFinishedSpans()).toEqual([])
    own.end()
    expect(exporter.getFinishedSpans()).toMatchObject([{ name: 'own' }])
    expect(exporter.getFinishedSpans()[0]?.attributes).toEqual({})
  } finally {
    trace.disable()
    context.disable()
  }
})

describe.each(operations)('%s by the library', (_name, change) => {
  it.each([
    ['a number of domains', 'guards: {maxDomains: 1}', 'maxDomains'],
    ['a number of changes', 'guards: {maxChanges: 1}', 'maxChanges'],
    ['a protected domain', 'guards: {protect: [b.example.com]}', 'protect'],
    ['a freeze', 'guards: {freeze: [{from: 2000-01-01, to: 3000-01-01}]}', 'freeze'],
  ])('is refused by %s', async (_what, line, guard) => {
    await prepare()
    addLines(line)
    const before = (await fetchWrites(emulator)).length
    expect(await refusal(change(here()))).toMatchObject({
      code: 'guarded',
      message: expect.stringContaining(guard) as string,
    })
    expect(await fetchWrites(emulator)).toHaveLength(before)
  })

  itLong('is refused while a rollout of its domains is open', async () => {
    await prepare()
    addLines('rollout: {waves: [1, 100%], pause: 1h}')
    const interrupt = new AbortController()
    const progress = {
      report: ({ type }: { type: string }) => type === 'wave.waiting' && interrupt.abort(),
      end: () => undefined,
    }
    const begun = open(place.root, {
      outside: { env: place.env },
      dialogue: { startProgress: async () => progress },
      signal: interrupt.signal,
    })
    expect((await begun.apply()).status).toBe('incomplete')
    for (const domain of [a, b]) place.manifest(domain, { timeout: { time: 62 } })
    const before = (await fetchWrites(emulator)).length
    expect(await refusal(change(here()))).toMatchObject({ code: 'rollout-open' })
    expect(await fetchWrites(emulator)).toHaveLength(before)
  })

  itLong('asks, and sends nothing when the answer is no', async () => {
    await prepare()
    const before = (await fetchWrites(emulator)).length
    const asking = open(place.root, {
      outside: { env: place.env },
      dialogue: { confirm: async () => false },
    })
    expect(await refusal(change(asking))).toMatchObject({ code: 'declined' })
    expect(await fetchWrites(emulator)).toHaveLength(before)
  })
})

itLong('a rollout waits, is approved, paused, resumed and aborted', async () => {
  await prepare()
  addLines('rollout: {waves: [1, 100%], pause: 0s, approval: [1]}')
  for (const domain of [a, b]) place.manifest(domain, { timeout: { time: 62 } })
  const before = (await fetchWrites(emulator)).length
  const { status, result } = await here().apply()
  expect([status, result.waitsFor]).toEqual(['waiting', 'approval'])
  const [listed] = await here().rollouts()
  const rollout = listed?.id ?? ''
  expect(listed).toMatchObject({ state: 'waiting-for-approval', wave: 1, waves: 2 })
  expect((await here().approve({ rollout })).verb).toBe('approved')
  expect((await here().pause({ rollout })).verb).toBe('paused')
  expect((await here().apply()).result.waitsFor).toBe('paused')
  expect((await here().resume({ rollout })).verb).toBe('resumed')
  const aborted = await here().abort({ rollout })
  expect(Object.keys(aborted.rollout.onHold)).toHaveLength(2)
  expect(await here().rollouts()).toEqual([])
  expect(await fetchWrites(emulator)).toHaveLength(before)
})

describe('a destructive change', () => {
  itLong('is applied only where it is allowed by name', async () => {
    await prepare()
    place.manifest(a, { https: { cert_id: 0 } })
    expect(await refusal(here().apply())).toMatchObject({ code: 'guarded' })
    expect((await here().apply({ allow: ['https'] })).status).toBe('done')
    expect(await fetchConfig(emulator, a)).toMatchObject({ https: { cert_id: 0 } })
  })

  it('is neither a target of a rollback nor of a repair, unless it is allowed', async () => {
    place.manifest(a, { https: { cert_id: 0 } })
    await here().apply({ allow: ['https'] })
    place.manifest(a, { https: { cert_id: 1 } })
    await here().apply()
    expect(await refusal(here().rollback())).toMatchObject({ code: 'guarded' })
    place.manifest(a, { https: { cert_id: 0 } })
    const seen = () => Promise.resolve({ [a]: { https: { cert_id: 5 } } })
    expect(await refusal(here().repair({ observe: seen }))).toMatchObject({ code: 'guarded' })
    expect(await fetchConfig(emulator, a)).toMatchObject({ https: { cert_id: 1 } })
  })
})

itLong('a stale or altered plan file is refused', async () => {
  await prepare()
  await place.cli('plan', '--out', 'plan.json')
  const text = readFileSync(join(place.root, 'plan.json'), 'utf8')
  const before = (await fetchWrites(emulator)).length
  expect(
    await refusal(here().apply({ planFile: text.replaceAll('"time":"61"', '"time":"7"') })),
  ).toMatchObject({ code: 'stale-plan' })
  place.manifest(a, { timeout: { time: 62 } })
  expect(await refusal(here().apply({ planFile: text }))).toMatchObject({ code: 'stale-plan' })
  expect(await fetchWrites(emulator)).toHaveLength(before)
})

itLong('a workspace opens from a subfolder and offers all operations', async () => {
  await prepare()
  const workspace = open(join(place.root, 'domains'), { outside: { env: place.env } })
  expect(workspace.root).toBe(place.root)
  expect(await workspace.validate()).toEqual([])
  expect((await workspace.plan()).plan.summary).toMatchObject({ change: 2, writes: 1 })
  const { plan, result, status } = await workspace.apply({ target: [a] })
  expect([plan.writes.length, result.confirmed, status]).toEqual([1, 1, 'done'])
  expect((await workspace.drift({ observe })).drift.live).toHaveLength(2)
  expect((await workspace.history()).map(({ outcome }) => outcome)).toEqual([
    'complete',
    'complete',
    'complete',
  ])
  expect(() => open('/')).toThrow('no edgewise.yaml in / or its parent folders')
})

itLong('drift and repair accept a selection, and repair leaves pending items out', async () => {
  await prepare()
  const found = await here().drift({ observe, target: [a], items: ['timeout'] })
  expect(found.drift.items.map(({ domain }) => domain)).toEqual([a])
  expect(await refusal(here().drift({ observe, target: ['c.*'] }))).toMatchObject({ code: 'usage' })
  expect(await refusal(here().repair({}))).toMatchObject({ code: 'usage' })
  const notes: string[] = []
  const noting = open(place.root, {
    outside: { env: place.env },
    dialogue: { note: (text) => notes.push(text) },
  })
  const seen = () => Promise.resolve({ [a]: { timeout: { time: 5 } } })
  expect((await noting.repair({ observe: seen })).plan.changes).toMatchObject([{ domain: a }])
  expect(notes.join(' ')).toContain('1 pending item was left out')
  const { plan } = await here().repair({ includePending: true })
  expect(plan.changes).toMatchObject([{ domain: b }])
})

it('a dialogue may be a class, and can not change the writes', async () => {
  class Asking {
    asked = 0
    confirm() {
      this.asked++
      return Promise.resolve(false)
    }
  }
  const dialogue = new Asking()
  place.manifest(a, { timeout: { time: 60 } })
  expect(
    await refusal(open(place.root, { outside: { env: place.env }, dialogue }).apply()),
  ).toMatchObject({ code: 'declined' })
  expect(dialogue.asked).toBe(1)
  const meddling = open(place.root, {
    outside: { env: place.env },
    dialogue: {
      show: (subject) => subject.kind === 'plan' && subject.plan.writes[0]?.domains.push(b),
      confirm: async (question) =>
        question.kind === 'apply' && (question.plan.writes[0]?.domains.push(b) ?? 0) > 0,
    },
  })
  expect((await meddling.apply()).status).toBe('done')
  expect(Object.keys(await fetchConfig(emulator, b))).toEqual([])
})

it('no export bypasses the guards', () => {
  expect(Object.keys(library).toSorted()).toEqual(['EdgewiseError', 'open'])
})

it('manifests with errors are neither planned nor applied', async () => {
  enterPlace(new Place(emulator.url))
  place.manifest(a, { timeout: { time: 'x' } })
  for (const work of [
    () => here().plan(),
    () => here().apply(),
    () => here().drift(),
    () => here().repair(),
  ])
    expect(await refusal(work())).toMatchObject({
      code: 'invalid',
      diagnostics: [expect.objectContaining({ code: 'item-invalid' })],
    })
  expect(await fetchWrites(emulator)).toEqual([])
})

describe('a change that a commit loosens by itself, by the library', () => {
  it.each([
    ['guards: {protect: [b.example.com]}', 'guards.protect'],
    ['guards: {maxDomains: 1}', 'guards.maxDomains'],
    ['guards: {freeze: [{from: 2000-01-01, to: 3000-01-01}]}', 'guards.freeze'],
  ])('is refused, also by a repair and a rollback: %s', async (line, key) => {
    const file = place.read('edgewise.yaml')
    for (const time of [59, 60]) {
      for (const domain of [a, b]) place.manifest(domain, { timeout: { time } })
      expect((await here().apply()).status).toBe('done')
    }
    addLines(line)
    expect((await here().apply()).status).toBe('done')
    place.write('edgewise.yaml', file)
    for (const domain of [a, b]) place.manifest(domain, { timeout: { time: 61 } })
    const before = (await fetchWrites(emulator)).length
    const loosened = {
      code: 'guarded',
      hint: expect.stringContaining(`${key}: this commit has`) as string,
    }
    // A rollback and a repair apply no commit.
    for (const [, change] of operations.toReversed()) {
      expect(await refusal(change(here()))).toMatchObject(loosened)
      expect(await refusal(change(here()))).toMatchObject(loosened)
    }
    expect(await fetchWrites(emulator)).toHaveLength(before)
    place.manifest(a, { timeout: { time: 62 } })
    expect((await here().apply()).status).toBe('done')
  })
})
