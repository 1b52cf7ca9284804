import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { observe } from '../../src/operations/observation/observe.ts'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { listSchemaErrors } from '../report/output-schema.ts'
import { setFaults, fetchConfig, token, fetchWrites } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'
import { itLong } from '../runs.ts'

const www = 'www.example.com'
setStage()

/** Another client changes the service. */
async function outOfBand(config: JsonObject): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ token, domains: www, config })
  const response = await fetch(`${emulator.url}/v2/domain/config`, {
    method: 'POST',
    headers,
    body,
  })
  expect(response.status).toBe(200)
}

const seen = async () =>
  place.write('live.json', JSON.stringify({ [www]: await fetchConfig(emulator, www) }))

async function driftJson(...args: string[]): Promise<JsonObject> {
  const output = await place.json('drift', ...args)
  expect(listSchemaErrors('drift', output)).toEqual([])
  return output
}

const files = () => place.cli('show', www, '--json').then(({ out }) => out)

describe('drift', () => {
  beforeEach(() =>
    place.manifest(www, { timeout: { time: 60 }, https: { cert_id: 1, http2: 'on' } }).settle(),
  )

  itLong(
    'no difference without observation is exit 0, and is not reported as in sync',
    async () => {
      const { code, out } = await place.cli('drift')
      expect(code).toBe(0)
      expect(out).toContain(
        'No differences were found.\nOf 2 items: 2 assumed as recorded (confirmed 0 min ago).\n' +
          'None of these items was compared',
      )
      expect(out).not.toMatch(/sync|verified|\d as recorded/)
      expect(await driftJson()).toMatchObject({
        items: [
          { item: 'https', kinds: [], confidence: 'assumed', pending: [], live: [] },
          { item: 'timeout', kinds: [], confidence: 'assumed' },
        ],
        summary: { verified: 0, assumed: 2, inDoubt: 0, pending: 0, live: 0 },
      })
    },
  )

  it('refuses an observation of other domains only, and names them', async () => {
    place.write('live.json', JSON.stringify({ 'other.example.com': { timeout: { time: '1' } } }))
    const { code, out, err } = await place.cli('drift', '--observed', 'live.json')
    expect([code, out, err]).toEqual([
      1,
      '',
      expect.stringContaining('none of the compared items was observed: it has other.example.com'),
    ])
  })

  it('a merged and unapplied change is exit 2 with the patch', async () => {
    place.manifest(www, { timeout: { time: 61 }, https: { cert_id: 1, http2: 'on' } })
    expect(await driftJson()).toMatchObject({
      items: [
        { item: 'https' },
        {
          item: 'timeout',
          kinds: ['pending'],
          pending: [{ op: 'replace', path: '/time', value: '61' }],
        },
      ],
      summary: { pending: 1, live: 0 },
    })
    const { code, out } = await place.cli('drift', '--report', 'drift.md')
    expect(readFileSync(join(place.root, 'drift.md'), 'utf8')).toMatch(
      /^### Edgewise drift\n\nDrift: 1 pending\.\n/,
    )
    expect([code, out]).toEqual([2, expect.stringContaining('60 → 61')])
    expect(out).toContain('Drift: 1 pending.')
  })

  itLong('a change by others is found in the observed configuration, and repaired', async () => {
    await outOfBand({ timeout: { time: '99' } })
    expect((await place.cli('drift')).code).toBe(0)
    await seen()
    const before = await files()
    expect(await driftJson('--observed', 'live.json')).toMatchObject({
      items: [
        { item: 'https', kinds: [], confidence: 'verified' },
        {
          item: 'timeout',
          kinds: ['live'],
          confidence: 'verified',
          live: [{ op: 'replace', path: '/time', value: '99' }],
        },
      ],
      summary: { verified: 2, assumed: 0, live: 1 },
    })
    const { code, out } = await place.cli('drift', '--observed', 'live.json')
    expect([code, out]).toEqual([2, expect.stringContaining('60 → 99')])
    expect(await files()).toBe(before)
    expect(await fetchConfig(emulator, www)).toMatchObject({ timeout: { time: '99' } })

    const sent = (await fetchWrites(emulator)).length
    const asked: string[] = []
    place.ask = (question) => {
      asked.push(question)
      return Promise.resolve(false)
    }
    expect((await place.cli('drift', '--observed', 'live.json', '--repair')).code).toBe(1)
    expect([asked.length, await files(), (await fetchWrites(emulator)).length]).toEqual([
      1,
      before,
      sent,
    ])
    const repaired = await place.cli('drift', '--observed', 'live.json', '--repair', '--yes')
    expect([repaired.code, repaired.out]).toEqual([0, expect.stringContaining('99 → 60')])
    expect((await fetchWrites(emulator)).slice(sent)).toMatchObject([
      { domains: [www], items: ['timeout'] },
    ])
    await seen()
    expect((await place.cli('drift', '--observed', 'live.json')).code).toBe(0)
  })

  itLong(
    'a repair records an observed value that is already as desired, without a write',
    async () => {
      await outOfBand({ timeout: { time: '61' } })
      place.manifest(www, { timeout: { time: 61 }, https: { cert_id: 1, http2: 'on' } })
      await seen()
      expect(await driftJson('--observed', 'live.json')).toMatchObject({
        summary: { pending: 1, live: 1 },
      })
      const sent = (await fetchWrites(emulator)).length
      expect((await place.cli('drift', '--observed', 'live.json', '--repair', '--yes')).code).toBe(
        0,
      )
      expect((await fetchWrites(emulator)).length).toBe(sent)
      expect((await place.cli('drift', '--observed', 'live.json')).out).toMatch(
        /No differences were found\.\nOf 2 items: 2 as recorded\./,
      )
      expect(await place.json('plan')).toMatchObject({ changes: [] })
    },
  )

  itLong('a repair respects the guards, and prints JSON lines', async () => {
    await outOfBand({ https: { cert_id: 0 } })
    await seen()
    place.write(
      'edgewise.yaml',
      `${readFileSync(join(place.root, 'edgewise.yaml'), 'utf8')}guards: {protect: ["${www}"]}\n`,
    )
    const { code, err } = await place.cli(
      'drift',
      '--observed',
      'live.json',
      '--repair',
      '--yes',
      '--force',
    )
    expect([code, err]).toEqual([1, expect.stringContaining(`protect: ${www} is protected`)])
    expect({ items: await place.recorded(www) }).toMatchObject({
      items: { https: { candidates: [{ cert_id: 1 }] } },
    })
  })

  itLong('an in-doubt item is a difference, for any observed value', async () => {
    await setFaults(emulator, { kind: 'reset-after', probability: 1 })
    place.manifest(www, { timeout: { time: 61 }, https: { cert_id: 1, http2: 'on' } })
    expect((await place.cli('apply', '--yes')).code).toBe(3)
    await setFaults(emulator)
    await seen()
    const { code, out } = await place.cli('drift', '--observed', 'live.json')
    expect([code, out]).toEqual([
      2,
      expect.stringContaining(
        `In-doubt: an apply ended with an unknown outcome\n\n  timeout: ${www}`,
      ),
    ])
    expect(await driftJson('--observed', 'live.json')).toMatchObject({
      items: [{ item: 'https' }, { item: 'timeout', confidence: 'in-doubt', kinds: [] }],
      summary: { verified: 1, inDoubt: 1, pending: 0 },
    })
  })

  it('a field that was not observed is not verifiable', async () => {
    place.write('live.json', JSON.stringify({ [www]: { https: { cert_id: 1 } } }))
    const { code, out } = await place.cli('drift', '--observed', 'live.json')
    expect([code, out]).toEqual([0, expect.stringContaining(`https.http2: ${www}`)])
    expect(out).toContain('Of 2 items: 2 assumed as recorded')
    expect(await driftJson('--observed', 'live.json')).toMatchObject({
      items: [{ notVerifiable: ['/http2'] }, {}],
    })
  })

  it.each<[string, Json, string]>([
    ['a value that the catalogue refuses', 1, 'timeout: expected an object'],
    ['a wrong type of a field', { time: [60] }, 'timeout at /time:'],
    ['a wrong unit', { time: '60s' }, 'timeout at /time: '],
  ])(
    '%s in the observed state is a difference that is shown and repaired',
    async (_what, timeout, why) => {
      await outOfBand({ timeout: { time: '99' } })
      place.write(
        'live.json',
        JSON.stringify({ [www]: { timeout, https: { cert_id: 1, force_https: 0, http2: 'on' } } }),
      )
      const output = await driftJson('--observed', 'live.json')
      expect(output).toMatchObject({
        items: [
          { item: 'https', kinds: [], confidence: 'verified' },
          {
            item: 'timeout',
            kinds: ['live'],
            confidence: 'in-doubt',
            unreadable: true,
            live: [],
            pending: [],
          },
        ],
        summary: { verified: 1, assumed: 0, inDoubt: 1, pending: 0, live: 1 },
      })
      expect((await place.cli('drift', '--observed', 'live.json', '--json')).err).toContain(why)
      const { code, out } = await place.cli(
        'drift',
        '--observed',
        'live.json',
        '--report',
        'drift.md',
      )
      const text = out.replace(/\s+/g, ' ')
      expect([code, text]).toEqual([2, expect.stringContaining(why)])
      expect(text).toContain(`: ${www}`)
      expect(text).toContain('Drift: 1 at the service. Of 2 items: 1 as recorded, 1 unreadable.')
      expect(readFileSync(join(place.root, 'drift.md'), 'utf8')).toContain(why)

      const sent = (await fetchWrites(emulator)).length
      const plan = await place.json('plan')
      expect(plan).toMatchObject({ changes: [] })
      const repaired = await place.cli('drift', '--observed', 'live.json', '--repair', '--yes')
      expect(repaired).toMatchObject({ code: 0 })
      expect((await fetchWrites(emulator)).slice(sent)).toMatchObject([
        { domains: [www], items: ['timeout'] },
      ])
      expect(repaired.err).not.toContain('may still take effect')
      expect(await fetchConfig(emulator, www)).toMatchObject({ timeout: { time: '60' } })
      expect({ items: await place.recorded(www) }).toMatchObject({
        items: { timeout: { status: 'confirmed' } },
      })
    },
  )

  it('a repair writes a list with an unreadable observed form as a whole', async () => {
    place.manifest(www, {
      add_response_head: {
        list: [
          { name: 'X-A', value: '1' },
          { name: 'X-B', value: '2' },
        ],
      },
    })
    await place.settle()
    await outOfBand({ add_response_head: { type: 'add', list: [{ name: 'X-C', value: '3' }] } })
    place.write(
      'live.json',
      JSON.stringify({
        [www]: { add_response_head: { type: 'add', list: [{ name: 'X-C', value: '3' }] } },
      }),
    )
    expect((await place.cli('drift', '--observed', 'live.json')).code).toBe(2)
    expect((await place.cli('drift', '--observed', 'live.json', '--repair', '--yes')).code).toBe(0)
    expect((await fetchConfig(emulator, www))['add_response_head']).toMatchObject({
      list: [{ name: 'X-A' }, { name: 'X-B' }],
    })
  })

  itLong('a repair records nothing of an unreadable item that is no longer desired', async () => {
    place.manifest(www, { https: { cert_id: 1, http2: 'on' } })
    place.write('live.json', JSON.stringify({ [www]: { timeout: 1 } }))
    expect(await driftJson('--observed', 'live.json')).toMatchObject({
      items: [{ item: 'https' }, { item: 'timeout', kinds: ['pending', 'live'], unreadable: true }],
    })
    const sent = (await fetchWrites(emulator)).length
    expect((await place.cli('drift', '--observed', 'live.json', '--repair', '--yes')).code).toBe(0)
    expect((await fetchWrites(emulator)).length).toBe(sent)
    expect(Object.keys(await place.recorded(www))).toEqual(['https'])
    // No longer managed: not compared.
    const observed = { timeout: 1, https: { cert_id: 1, http2: 'on' } }
    place.write('live.json', JSON.stringify({ [www]: observed }))
    expect((await place.cli('drift', '--observed', 'live.json')).code).toBe(0)
  })

  it('a repair writes an unrecorded item with a hidden secret', async () => {
    const signed = { pattern: '.*', time_format: 'timestamp', deadtime: 60, req_uri_type: 1 }
    await outOfBand({ visit_timestamp: { ...signed, key: 'somebody-elses-key' } })
    place.manifest(www, { visit_timestamp: { ...signed, key: 'our-own-key' } })
    place.write(
      'live.json',
      JSON.stringify({ [www]: { visit_timestamp: { ...signed, key: '***' } } }),
    )
    expect((await place.cli('drift', '--observed', 'live.json', '--repair', '--yes')).code).toBe(0)
    expect(await fetchConfig(emulator, www)).toMatchObject({
      visit_timestamp: { key: 'our-own-key' },
    })
  })

  itLong('an unavailable secret hides no other difference of its item', async () => {
    place.env['ORIGIN'] = 'sesame-sesame'
    const workspace = readFileSync(join(place.root, 'edgewise.yaml'), 'utf8')
    place.write('edgewise.yaml', `${workspace}secrets: {origin: {env: ORIGIN}}\n`)
    const heads = (bearer: string, other: string) => [
      { head_name: 'Authorization', head_value: `Bearer ${bearer}` },
      { head_name: 'X-B', head_value: other },
    ]
    await place.manifest(www, { add_back_source_head: heads('${secret:origin}', 'open') }).settle()
    delete place.env['ORIGIN']
    place.write(
      'live.json',
      JSON.stringify({ [www]: { add_back_source_head: heads('sesame-sesame', 'open') } }),
    )
    const same = await place.cli('drift', '--observed', 'live.json', '--verbose')
    expect([same.code, same.out]).toEqual([
      0,
      expect.stringContaining('add_back_source_head.0.head_value'),
    ])
    expect(await driftJson('--observed', 'live.json')).toMatchObject({
      items: expect.arrayContaining([
        expect.objectContaining({
          item: 'add_back_source_head',
          confidence: 'assumed',
          notVerifiable: ['/0/head_value'],
        }),
      ]) as Json,
    })
    place.write(
      'live.json',
      JSON.stringify({ [www]: { add_back_source_head: heads('sesame-sesame', 'shut') } }),
    )
    const other = await place.cli('drift', '--observed', 'live.json', '--verbose')
    expect(other.code).toBe(2)
    expect(other.out + other.err + same.out + same.err).not.toContain('sesame')
  })

  it('errors of manifests are no drift', async () => {
    place.manifest(www, { timeout: { time: 9999 } })
    expect((await place.cli('drift')).code).toBe(1)
  })
})

describe('the observed state', () => {
  const program = (name: string, text: string) => {
    place.write(name, text)
    chmodSync(join(place.root, name), 0o755)
  }
  const script = (text: string) => program('query.sh', `#!/bin/sh\n${text}\n`)
  const answer = JSON.stringify({ [www]: { timeout: { time: 61 } } })
  beforeEach(() => place.manifest(www, { timeout: { time: 60 } }).settle())

  itLong('is a file, or the output of a program with arguments', async () => {
    place.write('live', answer)
    expect(await driftJson('--observed', 'live')).toMatchObject({ summary: { live: 1 } })
    script('printf "%s" "$2" >&2; cat live')
    expect(await driftJson('--observed', './query.sh')).toMatchObject({ summary: { live: 1 } })
    place.env['QUERY_ACCESS'] = 'yes'
    script('[ "$QUERY_ACCESS" = yes ] && cat live')
    expect(await driftJson('--observed', './query.sh')).toMatchObject({ summary: { live: 1 } })
    script(`[ "$#" = 3 ] && [ "$2" = "a b" ] && [ "$3" = '$HOME;id' ] && cat live`)
    expect(await driftJson('--observed', './query.sh --all \'a b\' "$HOME;id"')).toMatchObject({
      summary: { live: 1 },
    })
  })

  it.each<[string, () => void, string, string]>([
    ['a missing file', () => undefined, 'none.json', "the file can't be read (ENOENT)"],
    ['a missing program', () => undefined, 'no-such-program --x', 'no such file or program'],
    ['nothing', () => undefined, '', 'expected a file or a program, got nothing'],
    [
      'no JSON',
      () => place.write('live.json', '{\n'),
      'live.json',
      'line 2, column 1: it is not JSON: expected a key in double quotes',
    ],
    [
      'a domain that occurs twice',
      () => place.write('live.json', `{"${www}": {},\n "${www}": {}}`),
      'live.json',
      'line 2, column 2: this key occurs twice in its object: only one of the values would count',
    ],
    ['an empty answer', () => script('true'), './query.sh', 'expected JSON, got nothing'],
    [
      'an exit code',
      () => script('cat live; echo "no access for \\033[31mme" >&2; exit 7'),
      './query.sh',
      'failed with exit code 7',
    ],
    ['a signal', () => script('kill -9 $$'), './query.sh', "can't be run (SIGKILL)"],
    [
      'another shape',
      () => place.write('live.json', '[1]'),
      'live.json',
      'expected an object, got a number at "/0"',
    ],
  ])('%s is exit 1 with the expected input', async (_what, prepare, source, why) => {
    prepare()
    const { code, out, err } = await place.cli('drift', '--observed', source)
    expect([code, out, err]).toEqual([1, '', expect.stringContaining(why)])
    expect(err).not.toContain('\u001b')
    const error = await place.json('drift', '--observed', source)
    expect(listSchemaErrors('error', error)).toEqual([])
    expect(error).toMatchObject({ code: 'not-observed' })
  })

  it.each([
    [
      'a large file',
      () => place.write('live.json', answer),
      'live.json',
      'expected at most 0 MiB, got more',
    ],
    [
      'a large answer',
      () => script(`echo '${answer}'`),
      './query.sh',
      'expected at most 0 MiB, the program printed more',
    ],
    ['a late answer', () => script('sleep 60'), './query.sh', 'did not finish within 0.2 s'],
  ])('%s is an error', async (_what, prepare, source, why) => {
    prepare()
    const io = { cwd: place.root, env: process.env, signal: new AbortController().signal }
    await expect(observe(source, io, (text) => text, { bytes: 10, seconds: 0.2 })).rejects.toThrow(
      why,
    )
  })

  it('an interrupt stops the program', async () => {
    script('sleep 60')
    const io = { cwd: place.root, env: process.env, signal: AbortSignal.abort() }
    await expect(observe('./query.sh', io, (text) => text)).rejects.toThrow('interrupted')
  })

  it('an invalid value neither controls nor floods the terminal', async () => {
    place.write(
      'live.json',
      JSON.stringify({ [www]: { timeout: { time: '60', ['\u001b[2J' + 'x'.repeat(9000)]: 1 } } }),
    )
    const { code, out, err } = await place.cli('drift', '--observed', 'live.json')
    expect([code, out]).toEqual([2, expect.stringContaining('Unreadable:')])
    expect(out + err).not.toContain('\u001b')
    expect(out.length).toBeLessThan(1000)
  })

  itLong('a secret in the stderr of the program is not printed', async () => {
    place.env['SIGNING'] = 'hunter2-hunter2'
    const workspace = readFileSync(join(place.root, 'edgewise.yaml'), 'utf8')
    place.write('edgewise.yaml', `${workspace}secrets: {signing: {env: SIGNING}}\n`)
    place.manifest(www, {
      add_response_head: { list: [{ name: 'X', value: '${secret:signing}' }] },
    })
    script('echo "header X is hunter2-hunter2" >&2; exit 1')
    const { err } = await place.cli('drift', '--observed', './query.sh')
    expect(err).toContain('header X is (secret)')
    expect(err).not.toContain('hunter2')
  })
})
