import { describe, expect, it } from 'vitest'
import { globSync } from 'tinyglobby'
import { trafficFile } from '../../src/core/model/generated/state-validators.ts'
import type { TrafficProfile } from '../../src/core/model/traffic.ts'
import { parseFile } from '../../src/state/format/parse-file.ts'
import { pickProfile } from '../../src/state/store/traffic.ts'
import { listSchemaErrors as schemaFaults } from '../report/output-schema.ts'
import { fetchCalls, Place, setFaults, startService } from './cli.ts'
import { emulator, place, setStageInTime, time } from './stage.ts'

const day = 86_400_000
const www = 'www.example.com'

setStageInTime()

/** Declares so many domains. */
function declare(count: number): void {
  for (let i = 0; i < count; i++) place.manifest(`d${i}.example.com`, { timeout: { time: '10' } })
}

/** Lists the queries of statistics: the number of domains, or `all`. */
async function listQueries(): Promise<(number | string)[]> {
  const calls = await fetchCalls(emulator)
  return calls.flatMap(({ path, domains }): (number | string)[] =>
    path.startsWith('/v2/stat/') ? [path.endsWith('/eachDomain') ? domains.length : 'all'] : [],
  )
}

describe('stats --refresh', () => {
  it('counts the last whole day of each domain and of the account, once a day', async () => {
    declare(12)
    const first = await place.cli('stats', '--refresh')
    expect([first.code, first.err]).toEqual([0, ''])
    expect(first.out.replaceAll(/\s+/g, ' ')).toMatch(
      /^Traffic of 2026-11-19: 12 domains counted \(12 new\), 0 already known; 0 without requests\. The account has [\d.]+[kM] requests\. $/,
    )
    expect(await listQueries()).toEqual([10, 2, 'all'])
    declare(13)
    time.now += day / 4
    const again = await place.json('stats', '--refresh')
    expect(schemaFaults('traffic-refresh', again)).toEqual([])
    expect(again).toMatchObject({ day: '2026-11-19', counted: 1, new: 1, fresh: 12 })
    time.now += day
    expect(await place.json('stats', '--refresh')).toMatchObject({ counted: 13, new: 0, fresh: 0 })
    const stats = ['stats', 'd3.example.com', '--from', '2026-11-20', '--to', '2026-11-20']
    const { series } = (await place.json(...stats)) as unknown as { series: { requests: number }[] }
    expect(loadTraffic().domains.get('d3.example.com')).toMatchObject({
      requests: series[0]?.requests,
      at: time.now,
    })
  })

  it('records what it counted before an interrupt', async () => {
    declare(35)
    const controller = new AbortController()
    place.signal = controller.signal
    await setFaults(emulator, { kind: 'error', on: [3] })
    time.onSleep = async () => controller.abort()
    expect((await place.json('stats', '--refresh'))['code']).toBe('declined')
    delete time.onSleep
    place.signal = new AbortController().signal
    expect(loadTraffic().domains.size).toBe(20)
    await setFaults(emulator)
    const rest = await place.json('stats', '--refresh')
    expect(rest).toMatchObject({ counted: 15, fresh: 20 })
  })

  it('counts the others if the account does not have a domain', async () => {
    const known = Array.from({ length: 9 }, (_, i) => `d${i}.example.com`)
    const service = await startService({ domains: known, now: () => time.now })
    const there = new Place(service.url)
    there.time = time
    for (const domain of [...known, 'gone.example.com']) there.manifest(domain, {})
    const refreshed = await there.json('stats', '--refresh')
    expect(refreshed).toMatchObject({ counted: 9, unknown: ['gone.example.com'], summed: false })
    there.remove()
    await service.close()
  })

  it('sums the domains if the service does not sum the account', async () => {
    declare(12)
    await setFaults(emulator, { kind: 'unauthorized-from', on: [3] })
    const refreshed = await place.json('stats', '--refresh')
    const sum = [...loadTraffic().domains.values()].reduce((all, each) => all + each.requests, 0)
    expect(refreshed).toMatchObject({ counted: 12, summed: true, account: sum })
    expect(loadTraffic().account).toBe(sum)
  })

  it.each([
    [['--from', '2h'], "'--refresh' cannot be used with option '--from"],
    [['--area', 'cn'], "'--refresh' cannot be used with option '--area"],
    [['all'], 'name of a domain'],
  ])('is refused with %j', async (args, message) => {
    const { code, err } = await place.manifest(www, {}).cli('stats', '--refresh', ...args)
    expect([code, err]).toEqual([1, expect.stringContaining(message)])
  })
})

/** Loads the recorded figures. */
function loadTraffic(): TrafficProfile {
  const [path = ''] = globSync('.edgewise/state/*/traffic/*/figures.json', {
    cwd: place.root,
    dot: true,
  })
  return pickProfile(parseFile(path, place.read(path), 'traffic', trafficFile))
}
