// @module-tag often
import { beforeEach, describe, expect, it } from 'vitest'
import { parsePage } from '../report/page/parse-page.ts'
import { TestSchema } from '../state/test-schema.ts'
import { Place, setFaults } from './cli.ts'
import { emulator, enterPlace, place, setStageInTime, time } from './stage.ts'

setStageInTime()
const [www, api] = ['www.example.com', 'api.example.com']
const html = ['--report', 'page.html']
beforeEach(() => setFaults(emulator))

async function apply(code = 0, ...more: string[]): Promise<void> {
  time.now += 60_000
  const ran = await place.cli('apply', '--yes', ...more)
  expect([ran.code, ran.err]).toEqual([code, ran.err])
}

/** Writes the page of the history, and checks that nothing but the page differs with `--report`. */
async function load(...args: string[]) {
  const before = await place.cli('state', 'history', ...args, '--json')
  const { code, out, err } = await place.cli('state', 'history', ...args, '--json', ...html)
  expect([code, out, err]).toEqual([0, before.out, before.err])
  const page = parsePage(place.read('page.html'))
  const list = (position: number) =>
    page.changes
      .filter(({ writes }) => writes[0] === position)
      .map(({ domain, part, state }) => {
        const { item, lines = [] } = page.parts[part] ?? {}
        const text = lines.map((line) => line.text).join()
        return `${page.domains[domain]} ${page.items[item ?? -1]} ${text} ${state}`
      })
  const applies = (page.applies ?? []).map((each, i) => ({
    ...each,
    did: each.hasChanges ? list(i) : null,
  }))
  return { page, applies }
}

describe('state history --report', () => {
  it('has what each apply did, with refusals and a rollback', async () => {
    place.manifest(www, { timeout: { time: 60 } }).manifest(api, { timeout: { time: 60 } })
    await apply()
    place.manifest(www, { timeout: { time: 90 } }).manifest(api, { timeout: { time: 90 } })
    await setFaults(emulator, { kind: 'refuse', domain: api, probability: 1 })
    await apply(3)
    await setFaults(emulator)
    time.now += 60_000
    expect((await place.cli('rollback', '--yes')).code).toBe(0)
    const { page, applies } = await load()
    expect(page.sentence).toMatch(
      /^The last apply is complete: .* 3 applies since .* 2 complete, 1/,
    )
    expect(applies.map(({ outcome, did }) => [outcome, did?.toSorted()])).toEqual([
      ['complete', [`${www} timeout time  90 → 60 confirmed`]],
      [
        'refused',
        [`${api} timeout time  60 → 90 refused`, `${www} timeout time  60 → 90 confirmed`],
      ],
      ['complete', [`${api} timeout time  60 confirmed`, `${www} timeout time  60 confirmed`]],
    ])
    expect(applies.map(({ rollback }) => rollback)).toEqual(
      applies.map(({ id }) => `edgewise rollback ${id}`),
    )
    expect(place.read('page.html')).toContain('2 confirmed')
  })

  it('marks a rollback, and has each reason once', async () => {
    place.manifest(www, { timeout: { time: 60 } })
    await apply(0, '--reason', 'a first <b>try</b>')
    place.configure('guards: {maxDomains: 1}').manifest(api, { timeout: { time: 60 } })
    place.manifest(www, { timeout: { time: 90 } })
    await apply(0, '--force', '--reason', 'both at once')
    time.now += 60_000
    expect((await place.cli('rollback', '--yes', '--reason', 'too slow')).code).toBe(0)
    const { applies } = await load()
    expect(applies.map(({ grounds }) => grounds)).toEqual([
      'rollback; reason: too slow',
      'guard overridden: both at once',
      'reason: a first <b>try</b>',
    ])
    const { out } = await place.cli('state', 'history')
    for (const line of ['rollback', 'reason: too slow', 'guard overridden: both at once'])
      expect(out).toContain(`\n  ${line}\n`)
    const table = place.read('page.html').split('<caption')[1]
    expect(table).toContain('rollback; reason: too slow')
    expect(place.read('page.html')).not.toContain('<b>try')
  })

  it('is the same with state in PostgreSQL', async () => {
    const schema = await TestSchema.make()
    try {
      const state = `state: {store: postgres, url: "\${env:DATABASE_URL}", schema: ${schema.name}}`
      enterPlace(new Place(emulator.url, 'id: default\n', { state }))
      place.env['DATABASE_URL'] = schema.configure((address) =>
        address.searchParams.delete('application_name'),
      ).url
      place.manifest(www, { timeout: { time: 60 } }).manifest(api, { timeout: { time: 70 } })
      await apply()
      place.manifest(www, { timeout: { time: 90 } })
      await apply()
      const { applies } = await load()
      expect(applies.map(({ did }) => did?.toSorted())).toEqual([
        [`${www} timeout time  60 → 90 confirmed`],
        [`${api} timeout time  70 confirmed`, `${www} timeout time  60 confirmed`],
      ])
      expect((await load(api)).applies).toHaveLength(1)
    } finally {
      await schema.remove()
    }
  })

  it('has the history of one domain', async () => {
    place.manifest(www, { timeout: { time: 60 } })
    await apply()
    place.manifest(api, { timeout: { time: 70 } })
    await apply()
    const { page, applies } = await load(www)
    expect(page.sentence).toContain(`The last apply of ${www} is complete`)
    expect(place.read('page.html')).toContain(`<dt>Domains</dt><dd>${www}</dd>`)
    expect(applies.map(({ did }) => did)).toEqual([[`${www} timeout time  60 confirmed`]])
    expect(applies[0]?.rollback).toMatch(new RegExp(`--target ${www}$`))
  })

  it('groups the waves of a rollout', async () => {
    enterPlace(new Place(emulator.url, 'rollout: {waves: [1, 100%], pause: 1m}\n'))
    for (const name of [www, api]) place.manifest(name, { timeout: { time: 60 } })
    await apply()
    const { applies } = await load()
    const id = applies[0]?.rollout?.id ?? ''
    expect(applies.map((each) => each.rollout)).toEqual(
      [2, 1].map((wave) => ({ id, wave, rollback: `edgewise rollback ${id}` })),
    )
    expect(applies.map(({ did }) => did?.length)).toEqual([1, 1])
  })

  it('reports that there is none yet, and what was pruned', async () => {
    const empty = await load()
    expect([empty.page.sentence, empty.applies]).toEqual(['There are no applies yet.', []])
    place.manifest(www, { timeout: { time: 60 } })
    await apply()
    place.manifest(www, { timeout: { time: 61 } })
    await apply()
    time.now += 40 * 86_400_000
    place.manifest(www, { timeout: { time: 62 } })
    await apply()
    expect((await place.cli('state', 'prune', '--keep', '30d', '--yes')).code).toBe(0)
    const { applies } = await load()
    expect(applies.map(({ rollback, did }) => [rollback === null, did])).toEqual([
      [false, [`${www} timeout time  61 → 62 confirmed`]],
      [true, null],
      [true, null],
    ])
    expect(applies[2]?.note).toMatch(/^Pruned/)
    expect(place.read('page.html')).toContain('<dt>Pruned</dt><dd>2 applies, listed without')
  })

  it('is exit code 1 if the page cannot be written', async () => {
    const { code, err } = await place.cli('state', 'history', '--report', 'no/folder/page.html')
    expect([code, err]).toEqual([1, expect.stringContaining("can't be written (ENOENT)")])
  })
})
