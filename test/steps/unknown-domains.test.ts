// @module-tag often
import { beforeEach, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/model/json.ts'
import type { CommandResult } from './cli.ts'
import { fetchConfig, fetchWrites, Place, setFaults } from './cli.ts'
import { emulator, enterPlace, place, setStage } from './stage.ts'

const domains = Array.from({ length: 8 }, (_, i) => `d${i}.example.com`)
const gone = domains[7] ?? ''
const others = domains.slice(0, 7)

setStage()
beforeEach(async () => {
  await setFaults(emulator)
  place.groupAsDocumented()
})

/** Configures each domain with values that it shares with different others, in three writes. */
const buildConfig = (i: number, base: number): JsonObject => ({
  timeout: { time: String(base + (i % 2)) },
  connect_timeout: { origin_connect_timeout: String(base + (Math.floor(i / 2) % 2)) },
  post_upload_size_limit: { limit_value: base + Math.floor(i / 4) },
})

function declare(base: number): Place {
  for (const [i, domain] of domains.entries()) place.manifest(domain, buildConfig(i, base))
  return place
}

/** Runs a command after the account has lost a domain: it is named once, and left out later. */
async function runWithout(...args: string[]): Promise<CommandResult> {
  const before = (await fetchWrites(emulator)).length
  // The emulator answers as for a domain that it does not know.
  await setFaults(emulator, { kind: 'refuse', domain: gone })
  const ran = await place.cli(...args)
  const calls = (await fetchWrites(emulator)).slice(before)
  const alone = calls.findIndex((call) => call.domains.join() === gone)
  expect([alone > 0, calls.slice(alone + 1).some((call) => call.domains.includes(gone))]).toEqual([
    true,
    false,
  ])
  expect(calls.filter(({ code }) => code !== 0)).toHaveLength(2)
  expect(ran.err.match(/left out of all other writes/g)).toHaveLength(1)
  expect(ran.code).toBe(3)
  await setFaults(emulator)
  return ran
}

async function expectConfigs(names: string[], base: number): Promise<void> {
  for (const domain of names)
    expect([domain, await fetchConfig(emulator, domain)]).toEqual([
      domain,
      buildConfig(domains.indexOf(domain), base),
    ])
}

it('a rollback leaves an unknown domain out of its later writes', async () => {
  await declare(10).settle()
  await declare(20).settle()
  const { out } = await runWithout('rollback', '--yes')
  expect(out).toContain('(items of domains: 21 confirmed, 1 refused, 2 not sent)')
  await expectConfigs(others, 10)
  await expectConfigs([gone], 20)
  const history = await place.json('state', 'history')
  expect(history).toMatchObject({
    applies: expect.arrayContaining([
      expect.objectContaining({
        outcome: 'incomplete',
        parts: { confirmed: 21, refused: 1, inDoubt: 0, notSent: 2 },
      }),
    ]) as unknown,
  })
})

it('a repair leaves an unknown domain out of its later writes', async () => {
  await declare(10).settle()
  const live = Object.fromEntries(domains.map((domain, i) => [domain, buildConfig(i, 30)]))
  place.write('live.json', JSON.stringify(live))
  const { out } = await runWithout('drift', '--observed', 'live.json', '--repair', '--yes')
  expect(out).toContain('(items of domains: 21 confirmed, 1 refused, 2 not sent)')
})

it('an apply of one write at a time does, and the next one finds the domain again', async () => {
  enterPlace(new Place(emulator.url, '', { limits: '{callsPerMinute: 10000, domainsPerWrite: 1}' }))
  place.groupAsDocumented()
  await declare(10).settle()
  declare(20)
  const before = (await fetchWrites(emulator)).length
  await setFaults(emulator, { kind: 'refuse', domain: gone })
  for (const total of [1, 2]) {
    const { code, out, err } = await place.cli('apply', '--yes')
    const calls = (await fetchWrites(emulator)).slice(before)
    expect(calls.filter((call) => call.domains.includes(gone))).toHaveLength(total)
    expect([code, err.match(/left out of all other writes/g)?.length]).toEqual([3, 1])
    expect(out).toContain('1 refused, 2 not sent')
    expect(err).toContain('not sent   2 writes: left out: the service does not know the domain')
  }
  await setFaults(emulator)
  await place.settle()
})

it('a rollout in waves ends with the wave that has it, and resumes once it is known', async () => {
  enterPlace(new Place(emulator.url, 'rollout: {waves: [50%, 100%], pause: 1s}\n'))
  await declare(10).settle()
  declare(20)
  await setFaults(emulator, { kind: 'refuse', domain: gone })
  const { code, err } = await place.cli('apply', '--yes')
  expect([code, err.match(/left out of all other writes/g)?.length]).toEqual([3, 1])
  const calls = await fetchWrites(emulator)
  expect(calls.filter((call) => call.domains.join() === gone)).toHaveLength(1)
  await setFaults(emulator)
  await place.settle()
  await expectConfigs(domains, 20)
})

it('the report and the page of an apply tell what was left out', async () => {
  declare(20)
  await runWithout('apply', '--yes', '--report', 'apply.md', '--report', 'apply.html')
  const report = place.read('apply.md')
  expect(report).toContain('confirmed in part')
  expect(report).toContain('2 writes\n    left out: the service does not know the domain')
  expect(place.read('apply.html')).toContain('not sent')
})
