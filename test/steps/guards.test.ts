import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fetchConfig, Place, fetchWrites } from './cli.ts'
import { emulator, enterPlace, place, setStage } from './stage.ts'
import { itLong } from '../runs.ts'

const www = 'www.example.com'

setStage()

const guarded = (guards: string) => enterPlace(new Place(emulator.url, `guards: ${guards}\n`))

itLong('too many changes: plan warns, apply refuses with numbers, --force overrides', async () => {
  guarded('{maxDomains: 1}')
  for (const name of ['a', 'b']) place.manifest(`${name}.example.com`, { timeout: { time: 60 } })
  const why = 'maxDomains: 2 of 2 domains would change, more than 1'
  const plan = await place.cli('plan')
  expect([plan.code, plan.err]).toEqual([0, expect.stringContaining(why)])
  expect((await place.cli('plan', '--report', 'plan.md')).code).toBe(0)
  const markdown = readFileSync(join(place.root, 'plan.md'), 'utf8')
  expect(markdown).toMatch(/^### Edgewise plan\n\nPlan: 2 to set/)
  expect(markdown).toContain(why)
  expect(markdown).toContain('note: Nothing is recorded yet')
  expect(await place.json('plan')).toMatchObject({
    warnings: expect.arrayContaining([expect.stringContaining(why)]) as string[],
  })
  const { code, err } = await place.cli('apply', '--yes')
  expect([code, err]).toEqual([1, expect.stringContaining(why)])
  expect(err).toContain('--force')
  expect(await fetchWrites(emulator)).toEqual([])
  expect((await place.cli('apply', '--yes', '--target', 'a.*')).code).toBe(0)
  expect((await place.cli('apply', '--yes')).code).toBe(0)
  for (const name of ['a', 'b']) place.manifest(`${name}.example.com`, { timeout: { time: 61 } })
  expect((await place.cli('apply', '--yes')).code).toBe(1)
  expect((await place.cli('apply', '--yes', '--force')).code).toBe(0)
})

it('a protected domain is neither changed nor released, even with --force', async () => {
  guarded('{protect: ["www.*"]}')
  place
    .manifest(www, { timeout: { time: 60 } })
    .manifest('a.example.com', { timeout: { time: 60 } })
  const { code, err } = await place.cli('apply', '--yes', '--force', '--allow', 'timeout')
  expect([code, err]).toEqual([1, expect.stringContaining(`protect: ${www} is protected`)])
  expect((await place.cli('apply', '--yes', '--target', 'a.*')).code).toBe(0)
})

it('a saved plan is checked by the current guards', async () => {
  guarded('{}')
  place.manifest(www, { timeout: { time: 60 } })
  expect((await place.cli('plan', '--out', 'plan.json')).code).toBe(0)
  place.write(
    'edgewise.yaml',
    `version: 1\nservice: {url: "${emulator.url}"}\nstate: {store: dir}\n` +
      'guards: {freeze: [{from: 2000-01-01, to: 3000-01-01, reason: sale}]}\n',
  )
  const { code, err } = await place.cli('apply', 'plan.json')
  expect([code, err]).toEqual([
    1,
    expect.stringContaining('freeze: nothing is applied from 2000-01-01 to 3000-01-01 (UTC): sale'),
  ])
  expect(await fetchWrites(emulator)).toEqual([])
})

it('certificate 0 and extend need to be allowed by name', async () => {
  guarded('{}')
  await place.manifest(www, { https: { cert_id: 1 } }).settle()
  place.manifest(www, { https: { cert_id: 0 }, extend: { squid: 'x' } })
  const refused = await place.cli('apply', '--yes', '--force', '--allow', 'extend')
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringContaining(`https: certificate 0 removes HTTPS (${www})`),
  ])
  expect(refused.err).toContain('--allow https')
  expect(await place.json('apply', '--yes', '--allow', 'https')).toMatchObject({ code: 'guarded' })
  expect((await place.cli('apply', '--yes', '--allow', 'htps')).err).toContain(
    'Did you mean "https"?',
  )
  expect(await fetchConfig(emulator, www)).toMatchObject({ https: { cert_id: 1 } })
  expect((await place.cli('apply', '--yes', '--allow', 'https', '--allow', 'extend')).code).toBe(0)
  expect(await fetchConfig(emulator, www)).toMatchObject({
    https: { cert_id: 0 },
    extend: { squid: 'x' },
  })
})

describe('a freeze in an emergency', () => {
  const freeze = 'freeze: [{from: 2000-01-01, to: 3000-01-01, reason: sale}]'
  const override = (...more: string[]) =>
    place.cli('apply', '--yes', '--override', 'freeze', ...more)

  it('is overridden by name with a reason, which the history has', async () => {
    guarded(`{${freeze}, reason: [freeze]}`)
    place.manifest(www, { timeout: { time: 60 } })
    const refused = await place.cli('apply', '--yes', '--force')
    expect([refused.code, refused.err.replaceAll(/\s+/g, ' ')]).toEqual([
      1,
      expect.stringContaining('pass --override freeze --reason TEXT'),
    ])
    expect((await override()).err).toContain('an apply in a freeze needs a reason')
    expect(await fetchWrites(emulator)).toEqual([])
    expect((await override('--reason', 'the shop is down')).code).toBe(0)
    expect((await place.cli('state', 'history')).out).toContain(
      'freeze overridden: the shop is down',
    )
    expect(await place.json('state', 'history')).toMatchObject({
      applies: [{ overrides: [{ policy: 'freeze', reason: 'the shop is down' }] }],
    })
  })

  it('leaves all other guards as they are', async () => {
    guarded(`{${freeze}, protect: ["www.*"]}`)
    place.manifest(www, { timeout: { time: 60 } })
    const { code, err } = await override()
    expect([code, err]).toEqual([1, expect.stringContaining(`protect: ${www} is protected`)])
    expect(err).not.toContain('freeze:')
    guarded(`{${freeze}}`)
    place.manifest(www, { timeout: { time: 60 } })
    expect((await override()).code).toBe(0)
    expect((await place.cli('state', 'history')).out).toContain('freeze overridden\n')
  })

  it.each(['override', 'freeze', 'retry-held', 'unlock'])(
    'guards.reason with %s alone requires a reason for that alone',
    async (action) => {
      guarded(`{${freeze}, reason: [${action}]}`)
      place.manifest(www, { timeout: { time: 60 } })
      const needs = async (...args: string[]) =>
        (await place.cli(...args, '--yes')).err
          .replaceAll(/\s+/g, ' ')
          .includes('needs a reason ("guards.reason"')
      expect({
        override: await needs('apply', '--override', 'tls'),
        freeze: await needs('apply', '--override', 'freeze'),
        'retry-held': await needs('apply', '--retry-held'),
        unlock: await needs('state', 'unlock'),
      }).toEqual({
        override: action === 'override',
        freeze: action === 'freeze',
        'retry-held': action === 'retry-held',
        unlock: action === 'unlock',
      })
    },
  )

  it('is not recorded outside of a freeze, and no policy has its name', async () => {
    guarded('{}')
    place.manifest(www, { timeout: { time: 60 } })
    expect((await override('--reason', 'just in case')).code).toBe(0)
    expect(await place.json('state', 'history')).not.toHaveProperty('applies.0.overrides')
    const rest = 'level: soft\non: plan\ndeny: "false"\nmessage: no\n'
    place.write('policies/a.yaml', `policy: freeze\n${rest}`)
    const { code, out, err } = await place.cli('validate')
    expect([code, out + err]).toEqual([1, expect.stringContaining('and not freeze')])
  })
})
