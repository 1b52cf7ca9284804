// @module-tag often
import { beforeEach, describe, expect, it } from 'vitest'
import { globSync } from 'tinyglobby'
import { trafficFile } from '../../src/core/model/generated/state-validators.ts'
import type { Write } from '../../src/core/model/change.ts'
import type { TrafficProfile } from '../../src/core/model/traffic.ts'
import { parseFile } from '../../src/state/format/parse-file.ts'
import { addProfile, formatFigures, pickProfile } from '../../src/state/store/traffic.ts'
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
    const text = 'Traffic of 2026-11-19: 12 domains counted (12 new), 0 already known; 0 without'
    expect(first.out.replaceAll(/[\d.]+[kM]/g, 'N')).toBe(
      `${text} requests.\nThe account has N requests.\n`,
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

  it('counts what health checks count, and again once they count something else', async () => {
    declare(2)
    expect(await place.json('stats', '--refresh')).toMatchObject({ counted: 2 })
    const before = loadTraffic().domains.get('d0.example.com')
    place.configure('rollout: {health: {statuses: [5xx, 404]}}')
    expect(await place.json('stats', '--refresh')).toMatchObject({ counted: 2, fresh: 0 })
    const after = loadTraffic().domains.get('d0.example.com')
    expect([before?.statuses, after?.statuses]).toEqual([undefined, ['404']])
    expect(after?.bad).toBeGreaterThan(before?.bad ?? Infinity)
    expect(await place.json('stats', '--refresh')).toMatchObject({ counted: 0, fresh: 2 })
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

/** Finds the file of the figures, relative to the workspace. */
function findFile(): string {
  const [path = ''] = globSync('.edgewise/state/*/traffic/*/figures.json', {
    cwd: place.root,
    dot: true,
  })
  return path
}

/** Loads the recorded figures. */
function loadTraffic(): TrafficProfile {
  const path = findFile()
  return pickProfile(parseFile(path, place.read(path), 'traffic', trafficFile))
}

/** Records figures of domains, in millions of requests; those before them are kept. */
async function record(...millions: number[]): Promise<void> {
  const path = findFile()
  const at = Math.floor(time.now)
  const domains = millions.map((requests, i) => {
    return [`d${i}.example.com`, { requests: requests * 1e6, bad: 0, at }] as const
  })
  const known = parseFile(path, place.read(path), 'traffic', trafficFile)
  const added = addProfile(known, { domains: new Map(domains), account: 1e8, at })
  place.write(path, formatFigures(added))
}

describe('a plan with figures of traffic', () => {
  beforeEach(async () => {
    declare(3)
    await place.cli('stats', '--refresh')
    time.now += day
    await record(41, 7.5, 0)
  })

  it('shows how much of it the plan touches, in each form', async () => {
    await place.cli('apply', '--yes', '--target', 'd2.example.com')
    place.manifest('new.example.com', { timeout: { time: '10' } })
    const { out, err } = await place.cli('plan', '--report', 'plan.md', '--report', 'plan.html')
    const line =
      "Impact: 48.5M requests a day, at least 49 % of the account's; 2 domains of the ten " +
      'largest; + 1 domain unknown'
    expect(out.replaceAll(/\s+/g, ' ')).toContain(line)
    expect(err).toBe('')
    expect(place.read('plan.md')).toContain(`\n${line}.\n`)
    expect(place.read('plan.html')).toContain(line.slice('Impact: '.length).replace("'", '&#39;'))
    const json = await place.json('plan')
    expect(schemaFaults('plan', json)).toEqual([])
    const countedAt = new Date(time.now).toISOString()
    const counts = { requests: 48_500_000, unknown: 1, top: 2, countedAt }
    expect(json['impact']).toEqual({ ...counts, share: null })
    time.now += 3 * day
    expect((await place.cli('plan')).err).toContain('up to 3 days old; "edgewise stats --refresh"')
  })

  it('is refused above guards.maxTraffic, and if a figure is unknown', async () => {
    place.configure('guards: {maxTraffic: 45%}')
    expect((await place.cli('plan')).err).toContain('apply will refuse this plan. maxTraffic')
    const refused = await place.cli('apply', '--yes')
    expect(refused.code).toBe(1)
    expect(refused.err).toContain("48.5 % of the account's requests (48500000 of 100000000 a day)")
    const selected = await place.cli('apply', '--yes', '--target', 'd0.example.com')
    expect(selected.code).toBe(0)
    place.manifest('new.example.com', { timeout: { time: '10' } })
    const unknown = await place.cli('apply', '--yes')
    expect(unknown.code).toBe(1)
    expect(unknown.err).toContain('maxTraffic: the traffic of 1 domain is not known')
    expect(unknown.err).toContain('Run "edgewise stats --refresh"')
    expect((await place.cli('apply', '--yes', '--force')).code).toBe(0)
    // A rollback goes back to what was live, perhaps in an emergency.
    for (const name of ['d0', 'd1', 'new'])
      place.manifest(`${name}.example.com`, { timeout: { time: '20' } })
    expect((await place.cli('apply', '--yes', '--force')).code).toBe(0)
    expect((await place.cli('rollback', '--yes')).code).toBe(0)
  })

  it('waits for approval of waves above rollout.approval.above', async () => {
    const waves = 'waves: [1, 2, 100%], first: [d2.example.com], pause: 0s'
    place.configure(`rollout: {${waves}, approval: {above: 10%}}`)
    const { writes } = (await place.json('plan')) as unknown as { writes: Write[] }
    const { wave } = writes.find(({ domains }) => domains.includes('d0.example.com')) ?? {}
    const { err } = await place.cli('plan')
    expect(err.match(/wave \d needs approval: apply stops/g)).toEqual([
      `wave ${wave} needs approval: apply stops`,
    ])
    const { code, out } = await place.cli('apply', '--yes')
    expect([code, out]).toEqual([0, expect.stringContaining('rollout approve')])
    const { rollouts } = (await place.json('rollout', 'list')) as unknown as { rollouts: unknown[] }
    expect(rollouts).toHaveLength(1)
  })

  it('from a file is judged by the newest figures', async () => {
    place.configure('guards: {maxTraffic: 45%}')
    await place.cli('plan', '--target', 'd0.example.com', '--out', 'plan.json')
    time.now += day
    await record(90)
    const applied = await place.cli('apply', 'plan.json')
    expect(applied.code).toBe(1)
    expect(applied.err).toContain('maxTraffic')
    expect((await place.cli('apply', 'plan.json', '--force')).code).toBe(0)
  })

  it('chooses waves by requests: small domains first, unknown ones last', async () => {
    declare(6)
    await record(40, 0.5, 6, 1, 30)
    const health = 'health: {window: 15m, margin: 1%}'
    place.configure(`rollout: {by: traffic, waves: [10%, 50%, 100%], pause: 0s, ${health}}`)
    const json = await place.json('plan', '--out', 'plan.json')
    expect(schemaFaults('plan', json)).toEqual([])
    const writes = json['writes'] as unknown as Write[]
    const waves = [1, 2, 3].map((wave) =>
      writes.flatMap((write) => (write.wave === wave ? write.domains : [])).toSorted(),
    )
    expect(waves[0]).toContain('d1.example.com')
    expect(waves[0]).not.toContain('d0.example.com')
    expect(waves.at(-1)).toContain('d5.example.com')
    expect(json['warnings']).toEqual(
      expect.arrayContaining([expect.stringContaining('the traffic of 1 domain is not known')]),
    )
    expect((await place.cli('plan')).out).toContain('in 15 min')
    // Figures that were counted once since are still those of the file.
    time.now += day
    await record(1, 40, 30, 20, 5)
    expect((await place.cli('apply', 'plan.json', '--no-waves')).code).toBe(0)
  })

  it('is judged by policies, which have no share if a figure is unknown', async () => {
    place.write(
      'policies/traffic.yaml',
      'policy: traffic\nlevel: hard\non: plan\ndeny: plan.impact.share > 0.4\n' +
        'message: "it touches ${plan.impact.share} of all requests"\n',
    )
    const touches = async (...args: string[]) => (await place.cli('apply', '--yes', ...args)).err
    expect(await touches()).toContain('it touches 0.485 of all requests')
    expect(await touches('--target', 'd1.example.com')).toContain('confirmed')
    place.manifest('new.example.com', { timeout: { time: '10' } })
    expect(await touches('--target', 'new.example.com')).toContain('the policy has no answer')
  })
})

describe('a plan without figures of traffic', () => {
  it('does not mention them, unless -v asks', async () => {
    declare(1)
    const { out, err } = await place.cli('plan')
    expect(out + err).not.toContain('Impact')
    expect((await place.cli('plan', '-v')).out).toContain(
      '\nImpact: unknown; "edgewise stats --refresh" counts the requests of the domains\n',
    )
    const json = await place.json('plan')
    expect(json).not.toHaveProperty('impact')
    expect(json['basis']).not.toHaveProperty('traffic')
  })
})
