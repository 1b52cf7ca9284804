// @module-tag often
// @module-tag nightly
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SharedState, stores } from '../stories/shared-state.ts'
import { fetchConfig } from './cli.ts'
import { emulator, enterPlace, place, setStage } from './stage.ts'

setStage({ extended: true })

const wild = '.wild.example.com'
const www = 'www.wild.example.com'

/** Writes the manifest of both domains. */
function declare(time: number): void {
  place.write(
    'domains/wild.yaml',
    `domains: [.Wild.example.com, ${www}]\nconfig: {timeout: {time: ${time}}}\n`,
  )
}

describe.each(stores)('a wildcard domain, with state in %s', (store) => {
  let shared: SharedState
  beforeEach(async () => {
    shared = await SharedState.make(store)
    enterPlace(shared.create(emulator.url))
  })
  afterEach(() => shared.remove())

  it('is planned, applied, recorded, rolled back and forgotten', async () => {
    declare(60)
    expect((await place.json('validate'))['diagnostics']).toEqual([])
    await place.settle()
    expect(await fetchConfig(emulator, wild)).toEqual({ timeout: { time: '60' } })
    declare(70)
    const { changes, writes } = await place.json('plan', '--out', 'plan.json')
    expect(changes).toMatchObject([{ domain: wild }, { domain: www }])
    expect(writes).toMatchObject([{ domains: [wild, www] }])
    expect((await place.cli('apply', 'plan.json')).code).toBe(0)
    expect(await place.recorded(wild)).toMatchObject({
      timeout: { candidates: [{ time: '70' }] },
    })
    expect((await place.cli('rollback', '--target', wild, '--yes')).code).toBe(0)
    expect(await fetchConfig(emulator, wild)).toEqual({ timeout: { time: '60' } })
    expect(await fetchConfig(emulator, www)).toEqual({ timeout: { time: '70' } })
    expect((await place.cli('state', 'forget', wild, '--yes')).code).toBe(0)
    expect((await place.json('state', 'list'))['domains']).toMatchObject([{ domain: www }])
  })
})

describe('a wildcard domain', () => {
  it.each([
    [[wild], [wild]],
    [['.WILD.example.com'], [wild]],
    [['.wild*'], [wild]],
    [['*.wild.example.com'], [wild, www]],
    [['*', `!${wild}`], [www]],
    [[`!${wild}`], [www]],
  ])('is selected by the target %j', async (globs, domains) => {
    declare(60)
    const { changes } = await place.json('plan', ...globs.flatMap((glob) => ['--target', glob]))
    expect(changes).toMatchObject(domains.map((domain) => ({ domain })))
  })

  it('is imported, with a manifest that is found', async () => {
    place.write('live.json', JSON.stringify({ [wild]: { timeout: { time: '60' } } }))
    const { code, err } = await place.cli('import', 'live.json', '--write-manifests')
    expect([code, err]).toEqual([0, expect.stringContaining('domains/wildcard~.wild.example.com')])
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
    place.write('answer.json', '{"code": 0, "data": {"config": {"timeout": {"time": "60"}}}}')
    expect((await place.cli('import', 'answer.json', '--domain', wild)).code).toBe(0)
    const drift = await place.json('drift', '--observed', 'live.json')
    expect(drift['items']).toMatchObject([{ domain: wild, confidence: 'verified' }])
  })

  it('is queried for statistics', async () => {
    declare(60)
    expect((await place.cli('stats', wild)).code).toBe(0)
  })

  it('has no name of its own, to which origin_host could be reset', async () => {
    place.write(
      'domains/wild.yaml',
      `domains: [${wild}, ${www}]\nconfig: {origin_host: {$unset: true}}\n`,
    )
    expect((await place.json('validate'))['diagnostics']).toMatchObject([
      { code: 'unset-unavailable', domain: wild, item: 'origin_host' },
    ])
    place.write('domains/wild.yaml', `domain: ${wild}\nconfig: {origin_host: {host: a.example}}\n`)
    await place.settle()
    const { err } = await place.cli('rollback', '--yes')
    expect(err.replaceAll(/\s+/g, ' ')).toContain('a wildcard domain has no name of its own')
  })

  it.each(['.', '.com', '..example.com', '*.example.com', '.192.0.2.1', '.example.com.'])(
    'is not %j',
    async (name) => {
      place.write('domains/wild.yaml', `domain: "${name}"\nconfig: {timeout: {time: 60}}\n`)
      expect((await place.json('validate'))['diagnostics']).toMatchObject([
        { code: 'domain-invalid' },
      ])
    },
  )
})
