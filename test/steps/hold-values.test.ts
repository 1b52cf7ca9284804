import { execFileSync } from 'node:child_process'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestSchema } from '../state/test-schema.ts'
import { fetchConfig, Place } from './cli.ts'
import { deadOrigin, emulator, enterPlace, place, setStageInTime, time } from './stage.ts'

setStageInTime()

const hour = 3_600_000
const good = '192.0.2.10'
const name = (i: number) => `d${i}.example.com`
const rules =
  'rollout: {waves: [1, 100%], pause: 1m, health: {onFailure: rollback, grain: hour, window: 1h}}\n'
const stores = ['dir', 'git', 'postgres'] as const

let schema: TestSchema | null = null
afterEach(async () => {
  await schema?.remove()
  schema = null
})

async function enterStore(store: (typeof stores)[number]): Promise<void> {
  if (store === 'dir') return void enterPlace(new Place(emulator.url, rules))
  if (store === 'postgres') {
    schema = await TestSchema.make()
    const { url, schema: own } = schema.configure((to) =>
      to.searchParams.delete('application_name'),
    )
    const state = `state: {store: postgres, url: "\${env:DATABASE_URL}", schema: ${own}}`
    enterPlace(new Place(emulator.url, rules, { state }))
    place.env['DATABASE_URL'] = url
    return
  }
  enterPlace(new Place(emulator.url, rules, { state: 'state: {store: git}' }))
  execFileSync('git', ['init', '--quiet', place.root])
}

/** Writes the profile of all domains. */
function write(origin: string, more = ''): void {
  place.write(
    'profiles/web.yaml',
    `profile: web\nconfig:\n  origin: {default_master: ${origin}}\n${more}`,
  )
}

/** Returns the origin and the time-out that the service has for a domain. */
async function live(i: number): Promise<unknown[]> {
  const { origin, timeout } = (await fetchConfig(emulator, name(i))) as Record<
    string,
    Record<string, unknown> | undefined
  >
  return [origin?.['default_master'], timeout?.['time']]
}

async function summarize(): Promise<unknown> {
  const { summary } = await place.json('plan')
  const { set, change, held } = summary as Record<string, number>
  return { set, change, held }
}

describe.each(stores)('a value that was rolled back, with state in %s', (store) => {
  beforeEach(async () => {
    await enterStore(store)
    for (let i = 0; i < 4; i++)
      place.write(`domains/${name(i)}.yaml`, `domain: ${name(i)}\nprofiles: [web]\nconfig: {}\n`)
    write(good)
    expect((await place.cli('apply', '--yes', '--no-waves')).code).toBe(0)
    time.now += 2 * hour
    write(deadOrigin)
    expect((await place.cli('apply', '--yes')).code).toBe(3)
  })

  it('stays away when another item is edited, and the other item is applied', async () => {
    write(deadOrigin, '  timeout: {time: 70}\n')
    expect(await summarize()).toEqual({ set: 4, change: 0, held: 4 })
    const plan = await place.cli('plan', '--detailed-exitcode')
    expect([plan.code, plan.out]).toEqual([2, expect.not.stringContaining(deadOrigin)])
    expect(plan.err.replace(/\s+/g, ' ')).toMatch(
      /4 changes .*on hold since \S+ \S+ UTC by rollout \S+, rolled back: wave 1 of 2: 5xx/,
    )
    expect(plan.err).toContain('--retry-held')
    const { onHold } = (await place.json('plan')) as { onHold: unknown[] }
    expect(onHold).toHaveLength(4)
    expect(onHold[0]).toMatchObject({
      domain: name(0),
      item: 'origin',
      since: expect.stringMatching(/^\d{4}-/) as string,
      reason: expect.stringContaining('wave 1 of 2') as string,
    })
    expect((await place.cli('apply', '--yes', '--no-waves')).code).toBe(0)
    for (let i = 0; i < 4; i++) expect(await live(i)).toEqual([good, '70'])
    const after = await place.cli('plan', '--detailed-exitcode')
    expect([after.code, after.out]).toEqual([2, expect.stringContaining('4 changes on hold.')])
    expect(after.out).not.toContain('No changes')
    const drift = (await place.json('drift'))['summary']
    expect(drift).toMatchObject({ held: 4 })
  })

  it('stays away after another value was applied, until somebody repeats it', async () => {
    write('192.0.2.11')
    expect(await summarize()).toEqual({ set: 0, change: 4, held: 0 })
    expect((await place.cli('apply', '--yes', '--no-waves')).code).toBe(0)
    write(deadOrigin)
    expect(await summarize()).toEqual({ set: 0, change: 0, held: 4 })
    expect((await place.cli('apply', '--yes', '--no-waves')).code).toBe(0)
    expect(await live(0)).toEqual(['192.0.2.11', undefined])
    const again = ['apply', '--yes', '--no-waves', '--retry-held', '--target', name(0)]
    expect((await place.cli(...again)).code).toBe(0)
    expect([await live(0), await live(1)]).toEqual([
      [deadOrigin, undefined],
      ['192.0.2.11', undefined],
    ])
    expect(await summarize()).toEqual({ set: 0, change: 0, held: 3 })
  })

  it('stays away also if a person rolled it back, until a rollback restores it', async () => {
    write('192.0.2.12')
    expect((await place.cli('apply', '--yes', '--no-waves')).code).toBe(0)
    const back = await place.cli('rollback', '--yes', '--target', name(0))
    expect([back.code, back.err]).toEqual([0, expect.stringContaining('They are on hold')])
    write('192.0.2.12', '  timeout: {time: 71}\n')
    expect(await summarize()).toEqual({ set: 4, change: 0, held: 1 })
    expect((await place.cli('plan')).err.replace(/\s+/g, ' ')).toMatch(
      /on hold since \S+ \S+ UTC by rollback \S+-rollback, rolled back: rolled back by/,
    )
    expect((await place.cli('apply', '--yes', '--no-waves')).code).toBe(0)
    expect([await live(0), await live(1)]).toEqual([
      [good, '71'],
      ['192.0.2.12', '71'],
    ])
    const { applies } = (await place.json('state', 'history')) as unknown as {
      applies: { id: string }[]
    }
    const rollback = applies.find(({ id }) => id.endsWith('-rollback'))?.id ?? ''
    expect((await place.cli('rollback', rollback, '--yes')).code).toBe(0)
    expect(await live(0)).toEqual(['192.0.2.12', '71'])
    expect(await summarize()).toEqual({ set: 0, change: 0, held: 0 })
  })
})
