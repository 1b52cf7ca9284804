import { markForeign } from '../../src/core/model/text/text-makers.ts'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { loadWorkspace } from '../../src/operations/runtime/load-workspace.ts'
import { createNodeOutside } from '../../src/operations/runtime/node-outside.ts'
import { createNetworkTransport } from '../../src/service/transport.ts'
import { Place, setFaults } from './cli.ts'
import { lockElsewhere } from './lock-elsewhere.ts'
import { emulator, enterPlace, place, setStage } from './stage.ts'
import { itLong } from '../runs.ts'

/** A message as a receiver got it. */
interface Received {
  url: string
  headers: IncomingHttpHeaders
  body: string
}

const [www, api] = ['www.example.com', 'api.example.com']
const secretPath = '/services/T0/B0/secret-of-the-hook'
const key = `whsec_${Buffer.from('a key of the receiver, long enough').toString('base64')}`
const received: Received[] = []
/** Status codes of the next answers; 200 after them. */
const answers: number[] = []
let server: Server
let url = ''

setStage()
beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { url: path = '', headers } = request
      received.push({ url: path, headers, body: Buffer.concat(chunks).toString() })
      response.writeHead(answers.shift() ?? 200).end('thanks')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${secretPath}`
})
afterAll(() => new Promise((resolve) => server.close(resolve)))
beforeEach(() => setFaults(emulator))
afterEach(() => {
  received.length = 0
  answers.length = 0
})

const all = '[applied, refused, in-doubt, failed, drift, rollout, approval]'

/** Enters a workspace with these receivers. */
function enter(receivers: string, more = ''): void {
  enterPlace(new Place(emulator.url, `notify:\n${receivers}\n${more}`))
  place.env = { ...place.env, HOOK: url, KEY: key }
  place.transport = createNetworkTransport()
}

const receive = (kind: string, on = all) => `  - {kind: ${kind}, url: "\${env:HOOK}", on: ${on}}`
const parse = (index = 0) => JSON.parse(received[index]?.body ?? 'null') as Record<string, unknown>

describe('notify', () => {
  it('sends a webhook that is signed by Standard Webhooks', async () => {
    enter(`  - {kind: webhook, url: "\${env:HOOK}", secret: "\${env:KEY}", on: [applied]}`)
    place.manifest(www, { timeout: { time: 60 } })
    const { code, err } = await place.cli('apply', '--yes')
    expect([code, err]).toEqual([0, expect.not.stringContaining('warning')])
    expect(received.map((each) => each.url)).toEqual([secretPath])
    expect(parse()).toEqual({
      format: 'edgewise.notification/1',
      id: expect.any(String) as string,
      time: expect.stringMatching(/Z$/) as string,
      workspace: 'default',
      account: 'default',
      events: ['applied'],
      title: 'Applied; writes: 1 confirmed.',
      history: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      apply: expect.stringMatching(/^\d+T\d+Z-/) as string,
      by: expect.stringContaining('@') as string,
      commit: null,
      wave: null,
      reason: null,
      parts: [],
      next: null,
    })
    const [{ headers, body }] = received as [Received]
    expect(headers['content-type']).toBe('application/json')
    expect(headers['webhook-id']).toBe(parse()['id'])
    // The time is that of the test.
    const now = Number(headers['webhook-timestamp'])
    const verify = (text: string) => {
      const { Date: RealDate } = globalThis
      globalThis.Date = class extends RealDate {
        static override now = () => now * 1000
      } as DateConstructor
      try {
        return new Webhook(key).verify(text, headers as Record<string, string>)
      } finally {
        globalThis.Date = RealDate
      }
    }
    expect(verify(body)).toEqual(parse())
    expect(() => verify(body.replace('default', 'another'))).toThrow('signature')
  })

  it('names what was refused and is in-doubt, in one message for each receiver', async () => {
    enter(
      [receive('webhook', '[refused, in-doubt]'), receive('slack'), receive('teams')].join('\n'),
    )
    place.manifest(www, { timeout: { time: 60 } }).manifest(api, { timeout: { time: 61 } })
    await setFaults(emulator, { kind: 'refuse', domain: www, probability: 1 })
    expect((await place.cli('apply', '--yes')).code).toBe(3)
    expect(received).toHaveLength(3)
    const sorted = received.toSorted((a, b) => a.body.length - b.body.length)
    received.splice(0, 3, ...sorted)
    const bodies = received.map((_each, i) => parse(i))
    const webhook = bodies.find((each) => 'format' in each)
    expect(webhook).toMatchObject({
      history: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      events: ['refused'],
      title: 'Not everything was applied; writes: 1 confirmed, 1 refused.',
      parts: [{ event: 'refused', domains: [www], items: ['timeout'], text: expect.any(String) }],
      next: 'edgewise plan',
    })
    const title = 'Edgewise: Not everything was applied; writes: 1 confirmed, 1 refused.'
    const line = `Refused: timeout of ${www}: domain(${www}) is invalid`
    const by = expect.stringMatching(/^By: \S+@\S+$/) as string
    const about = expect.stringMatching(/^Workspace default, account default, apply \S+$/) as string
    expect(bodies.find((each) => 'blocks' in each)).toEqual({
      text: title,
      blocks: [`*${title}*`, about, by, line, 'Next: edgewise plan'].map((text) => ({
        type: 'section',
        text: { type: 'mrkdwn', text, verbatim: true },
      })),
    })
    expect(bodies.find((each) => 'attachments' in each)).toMatchObject({
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          content: {
            type: 'AdaptiveCard',
            body: [
              { inlines: [{ type: 'TextRun', text: title, weight: 'Bolder' }] },
              ...[about, by, line, 'Next: edgewise plan'].map((text) => ({
                type: 'RichTextBlock',
                inlines: [{ type: 'TextRun', text }],
              })),
            ],
            actions: [],
          },
        },
      ],
    })
  })

  itLong('sends only what a receiver wants, and nothing of an apply without changes', async () => {
    enter(receive('webhook', '[drift, in-doubt]'))
    place.manifest(www, { timeout: { time: 60 } })
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    expect(received).toEqual([])
    enter(receive('webhook'))
    place.manifest(www, { timeout: { time: 60 } })
    await place.cli('apply', '--yes')
    await place.cli('apply', '--yes')
    expect(received.map((_each, i) => parse(i)['events'])).toEqual([['applied']])
    expect((await place.cli('plan')).code).toBe(0)
    place.manifest(www, { timeout: { time: 61 } })
    await place.cli('apply', '--yes')
    expect((await place.cli('rollback', '--yes')).code).toBe(0)
    expect(received.map((_each, i) => parse(i)['events'])).toEqual([
      ['applied'],
      ['applied'],
      ['applied'],
    ])
  })

  itLong('has the newest hash of the history, whatever it is about', async () => {
    enter(receive('webhook'))
    place.manifest(www, { timeout: { time: 60 } })
    expect((await place.cli('drift')).code).toBe(2)
    expect(parse()).not.toHaveProperty('history')
    await place.cli('apply', '--yes')
    place.manifest(www, { timeout: { time: 61 } })
    await place.cli('drift')
    await place.cli('rollout', 'stop', '--all', '--yes')
    await place.cli('apply', '--yes')
    await place.cli('rollout', 'resume', '--all', '--yes')
    await lockElsewhere()
    await place.cli('state', 'unlock', '--yes')
    const { newest } = await place.json('state', 'verify')
    expect(newest).toMatch(/^[0-9a-f]{64}$/)
    const contents = received.map((_each, i) => [parse(i)['events'], parse(i)['history']])
    const events = ['drift', 'applied', 'drift', 'rollout', 'failed', 'rollout', 'rollout']
    expect(contents).toEqual(events.map((event, i) => [[event], i === 0 ? undefined : newest]))
  })

  it('has the reasons of an overridden freeze and of an unlock', async () => {
    const guards = 'guards: {freeze: [{from: 2000-01-01, to: 3000-01-01}], reason: [unlock]}\n'
    enter(receive('webhook', '[applied, rollout]'), guards)
    place.manifest(www, { timeout: { time: 60 } })
    const why = ['--reason', 'the shop is down']
    expect((await place.cli('apply', '--yes', '--override', 'freeze', ...why)).code).toBe(0)
    expect(parse()).toMatchObject({
      title: 'Applied; writes: 1 confirmed. Freeze was overridden: the shop is down.',
    })
    expect(await place.cli('state', 'unlock', ...why)).toMatchObject({
      out: 'There is no lock.\n',
    })
    expect(received).toHaveLength(1)
    await lockElsewhere()
    const refused = await place.cli('state', 'unlock', '--yes')
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('needs a reason')])
    expect((await place.cli('state', 'unlock', '--yes', ...why)).code).toBe(0)
    expect(received).toHaveLength(2)
    expect(parse(1)).toMatchObject({ events: ['rollout'], apply: null })
    expect(parse(1)['title']).toMatch(
      /^The lock of somebody \(process 1, .*\) was removed by \S+: the shop is down\.$/,
    )
  })

  it.each([
    ['a guard refuses', 'https: {cert_id: 0}', '(guarded): A guard, a freeze window or', ''],
    ['manifests are invalid', 'timeout: {time: no}', '(invalid): The workspace, or a file', ''],
    ['there is no access', 'timeout: {time: 60}', '(access): The token, the address', 'token'],
  ])('notifies once of an apply that failed: %s', async (_case, config, title, without) => {
    enter(receive('webhook', '[failed]'))
    if (without !== '') delete place.env['EDGEWISE_TOKEN']
    place.write('domains/a.yaml', `domain: ${www}\nconfig: {${config}}\n`)
    expect((await place.cli('apply', '--yes')).code).toBe(1)
    expect(received).toHaveLength(1)
    expect(parse()).toMatchObject({ events: ['failed'], apply: null })
    expect(parse()['title']).toContain(`Nothing was applied ${title}`)
  })

  itLong(
    'notifies of an apply that could send nothing, and of no mistake of its user',
    async () => {
      enter(receive('webhook'))
      place.manifest(www, { timeout: { time: 60 } })
      expect((await place.cli('apply', '--yes', '--target', 'none.example.com')).code).toBe(1)
      expect((await place.cli('apply')).code).toBe(1)
      expect(received).toEqual([])
      await setFaults(emulator, { kind: 'rate', probability: 1 })
      place.write(
        'edgewise.yaml',
        place.read('edgewise.yaml').replace(/limits: .*/, 'limits: {maxWaitSeconds: 0}'),
      )
      await place.cli('apply', '--yes')
      expect(received.map((_each, i) => parse(i))).toMatchObject([
        { events: ['failed'], title: 'Not everything was applied; writes: 1 not sent.' },
      ])
    },
  )

  itLong('reports drift in one message for many domains, and nothing without drift', async () => {
    enter([receive('webhook'), receive('slack')].join('\n'))
    expect((await place.manifest(www, { timeout: { time: 60 } }).cli('apply', '--yes')).code).toBe(
      0,
    )
    received.length = 0
    expect((await place.cli('drift')).code).toBe(0)
    expect(received).toEqual([])
    for (let i = 0; i < 1000; i++)
      place.manifest(`d${i}.example.com`, { timeout: { time: 60 }, origin_host: { host: 'a.net' } })
    expect((await place.cli('drift')).code).toBe(2)
    expect(received).toHaveLength(2)
    const bodies = received.map((_each, i) => parse(i))
    expect(bodies.find((each) => 'format' in each)).toMatchObject({
      events: ['drift'],
      title: 'Drift: 2,000 items of 1,000 domains.',
      apply: null,
    })
    const slack = JSON.stringify(bodies.find((each) => 'blocks' in each))
    expect(slack).toContain('of d0.example.com, d1.example.com, d10.example.com')
    expect(slack).toContain('997 more')
    expect(slack.length).toBeLessThan(2000)
  })

  it('tells that a rollout waits for an approval, and its end', async () => {
    enter(
      receive('webhook', '[rollout, approval]'),
      'rollout: {waves: [1, 100%], pause: 1s, approval: [2]}',
    )
    place.manifest(www, { timeout: { time: 60 } }).manifest(api, { timeout: { time: 61 } })
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    const { out } = await place.cli('rollout', 'list')
    const [, id = ''] = /rollout approve (\S+)/.exec(out) ?? []
    const wave = { rollout: id, number: 2, waves: 2, domains: [www] }
    expect(parse()).toMatchObject({
      events: ['approval'],
      title: 'Wave 2 of 2 waits for approval.',
      by: expect.stringContaining('@'),
      wave,
      next: `edgewise rollout approve ${id}`,
    })
    // The same wait is announced once.
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    expect(received).toHaveLength(1)
    expect((await place.cli('rollout', 'approve', id)).code).toBe(0)
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    expect(parse(1)).toMatchObject({
      events: ['approval'],
      title: expect.stringMatching(/^Approved wave 2 of 2 of .* Decided by .+\.$/),
    })
    expect(parse(1)).toMatchObject({ wave })
    // Of both waves, though this apply has sent one.
    const end = { events: ['applied', 'rollout'], title: 'Applied; writes: 2 confirmed.' }
    expect(parse(2)).toMatchObject({ ...end, next: null })
  })

  it('notifies nobody of an attempt that is refused, and links to serve', async () => {
    enter(receive('webhook'), 'serve: {url: "https://edgewise.example.com/"}')
    place.identifyToken = async () => ({ fault: 'it is wrong' })
    place.manifest(www, { timeout: { time: 60 } })
    place.env['EDGEWISE_ID_TOKEN'] = 'x'
    expect((await place.cli('apply', '--yes')).code).toBe(1)
    expect(received).toEqual([])
    delete place.env['EDGEWISE_ID_TOKEN']
    expect((await place.cli('drift')).code).toBe(2)
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    expect(received.map((_each, i) => parse(i)['url'])).toEqual([
      'https://edgewise.example.com/drift',
      'https://edgewise.example.com/',
    ])
  })

  it.each(['x', 'ftp://a.net', 'https://ada@a.net', 'https://a.net/?q', 'https://a.net/<x>'])(
    'refuses the address %s of its links',
    async (address) => {
      enter(receive('webhook'), `serve: {url: "${address}"}`)
      const { code, out } = await place.cli('validate')
      expect([code, out]).toEqual([1, expect.stringContaining('an address that begins with')])
    },
  )

  itLong('tries again with the same id, and reports a failure beside the outcome', async () => {
    enter(receive('webhook'))
    answers.push(500, 429, 204)
    place.manifest(www, { timeout: { time: 60 } })
    const first = await place.cli('apply', '--yes')
    expect([first.code, first.err]).toEqual([0, expect.not.stringContaining('warning')])
    expect(new Set(received.map(({ body }) => body)).size).toBe(1)
    expect(received).toHaveLength(3)

    answers.push(404)
    place.manifest(www, { timeout: { time: 61 } })
    const lost = await place.cli('apply', '--yes')
    const text = 'warning: 1 notification not sent: webhook (number 1 of "notify"): HTTP 404'
    expect([lost.code, lost.err.replaceAll('\n', ' ')]).toEqual([
      0,
      expect.stringContaining(text) as string,
    ])
    expect(received).toHaveLength(4)

    const gone = createServer()
    await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve))
    place.env['HOOK'] = url.replace(/:\d+/, `:${(gone.address() as AddressInfo).port}`)
    await new Promise((resolve) => gone.close(resolve))
    place.manifest(www, { timeout: { time: 62 } })
    const down = await place.cli('apply', '--yes')
    expect(down).toMatchObject({ code: 0, err: expect.stringContaining('ECONNREFUSED') as string })
    for (const { out, err } of [first, lost, down]) expect(out + err).not.toContain('secret-of')
  })

  it('needs no address to plan, and says what is missing after an apply', async () => {
    enter(`  - {kind: webhook, url: "\${env:HOOK}", secret: "\${env:KEY}", on: [applied]}`)
    delete place.env['KEY']
    place.manifest(www, { timeout: { time: 60 } })
    expect(await place.cli('validate')).toMatchObject({ code: 0, err: '' })
    expect((await place.cli('plan')).code).toBe(0)
    const { code, err } = await place.cli('apply', '--yes')
    expect([code, err]).toEqual([0, expect.stringContaining('no value for HOOK or KEY')])
    expect(received).toEqual([])
  })

  it('keeps addresses and keys from programs of secrets, and from every output', async () => {
    const script = 'env > dump; printf "%s" "$1"; echo "at $COPY" >&2'
    enter(
      [
        `  - {kind: webhook, url: "\${env:HOOK}", secret: "\${env:KEY}", on: [applied]}`,
        `  - {kind: slack, url: "\${env:PART}\${env:NONE}", on: [drift]}`,
      ].join('\n'),
      `secrets: {s: {command: [sh, -c, '${script}', sh, a-long-value-of-it]}}`,
    )
    place.env = {
      ...place.env,
      COPY: `see ${url}`,
      PART: 'secret-of-the-hook',
      PATH: process.env['PATH'],
    }
    const signed = { pattern: '.*', time_format: 'timestamp', deadtime: 60, req_uri_type: 1 }
    place.manifest(www, { visit_timestamp: { ...signed, key: '${secret:s}' } })
    const { code, out, err } = await place.cli('apply', '--yes')
    expect([code, err]).toEqual([0, err])
    const dump = place.read('dump')
    for (const text of [dump, out, err]) {
      expect(text).not.toContain('secret-of-the-hook')
      expect(text).not.toContain(key)
    }
    expect(dump).toContain('PATH=')
    const workspace = loadWorkspace(
      place.root,
      {
        ...createNodeOutside(new AbortController().signal),
        env: place.env,
      },
      'none',
    )
    expect(workspace.scrub(markForeign(`could not reach ${url}`))).toBe(
      'could not reach (receiver)',
    )
    expect(workspace.scrub(markForeign(`the key is ${key}`))).toBe('the key is (receiver)')
  })

  it.each([
    ['{kind: webhook, url: "ftp://hooks.example.com", on: [drift]}', 'begins with https://'],
    ['{kind: webhook, url: "http://hooks.example.com", on: [drift]}', 'begins with https://'],
    ['{kind: webhook, url: "https://a.example b", on: [drift]}', 'begins with https://'],
    ['{kind: webhook, url: "", on: [drift]}', 'begins with https://'],
    ['{kind: slack, url: "${env:HOOK}", secret: "${env:KEY}", on: [drift]}', 'kind: webhook'],
    ['{kind: webhook, url: "${env:HOOK}", secret: abc, on: [drift]}', 'environment variable'],
    ['{kind: mail, url: "${env:HOOK}", on: [drift]}', 'webhook'],
    ['{kind: slack, url: "${env:HOOK}", on: []}', 'at least one'],
    ['{kind: slack, url: "${env:HOOK}", on: [all]}', 'applied'],
  ])('refuses %s', async (receiver, why) => {
    enter(`  - ${receiver}`)
    const { code, out, err } = await place.cli('validate')
    expect([code, out]).toEqual([1, expect.stringContaining(why)])
    expect(out + err).not.toContain('secret-of')
  })
})
