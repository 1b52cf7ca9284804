import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeEach, describe, expect, it } from 'vitest'
import { fetchConfig, fetchWrites } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'
import { itLong } from '../runs.ts'

const www = 'www.example.com'
setStage()

const errorSchema = JSON.parse(
  readFileSync(new URL('../../schemas/output/error.schema.json', import.meta.url), 'utf8'),
) as object
const isError = new Ajv2020({ strict: false }).compile(errorSchema)

describe('the selection', () => {
  beforeEach(() => {
    for (const name of ['a', 'b'])
      place.manifest(`${name}.example.com`, { timeout: { time: 60 }, https: { cert_id: 1 } })
  })

  it.each([
    [['--item', 'htps'], 'Did you mean "https"?'],
    [['--item', 'https', '--item', 'time-out'], 'Did you mean "timeout"?'],
    [['--item', ''], 'there is no item ""'],
    [['--target', 'c.example.com'], 'no managed domain matches "c.example.com"'],
    [
      ['--target', 'example.com', '--target', '*.net'],
      'no managed domain matches "example.com", "*.net"',
    ],
    [['--target', ''], 'expected a glob of 1 to 1000 characters'],
    [['--target'], 'argument missing'],
    [['--targt', 'a'], 'Did you mean --target?'],
  ])('%j is exit 1 for plan and apply, with a reason', async (args, why) => {
    for (const command of [['plan'], ['plan', '--detailed-exitcode'], ['apply', '--yes']]) {
      const { code, out, err } = await place.cli(...command, ...args)
      expect([code, out, err]).toEqual([1, '', expect.stringContaining(why)])
      const error = await place.json(...command, ...args)
      expect(isError(error) ? [] : isError.errors).toEqual([])
      expect(error).toMatchObject({ format: 'edgewise.error/1', code: 'usage' })
    }
    expect(await fetchWrites(emulator)).toEqual([])
    expect((await place.json('state', 'list'))['domains']).toEqual([])
  })

  it('a missing folder is an error: its parents are not searched', async () => {
    const { code, err } = await place.cli('-C', 'nowhere', 'plan')
    expect([code, err]).toEqual([1, expect.stringContaining('does not exist')])
  })

  itLong('domains outside the selection are neither planned, written nor released', async () => {
    await place.settle()
    place.manifest('a.example.com', { timeout: { time: 61 } }).manifest('b.example.com', {})
    const before = (await fetchWrites(emulator)).length
    expect(
      (await place.cli('apply', '--yes', '--target', 'A.example.com', '--item', 'timeout')).code,
    ).toBe(0)
    expect((await fetchWrites(emulator)).slice(before)).toMatchObject([
      { domains: ['a.example.com'], items: ['timeout'] },
    ])
    expect(await place.json('state', 'list')).toMatchObject({
      domains: [{ items: 2 }, { items: 2 }],
    })
    expect(await place.json('plan')).toMatchObject({ summary: { release: 3, set: 0, change: 0 } })
  })

  it('a domain without a manifest can still be selected for release', async () => {
    await place.settle()
    rmSync(join(place.root, 'domains/a.example.com.yaml'))
    expect(await place.json('plan', '--target', 'a.example.com')).toMatchObject({
      summary: { release: 2, writes: 0 },
    })
    expect((await place.cli('apply', '--yes', '--target', 'a.example.com')).code).toBe(0)
    expect((await place.cli('show', 'a.example.com')).code).toBe(1)
    expect(await fetchConfig(emulator, 'a.example.com')).toMatchObject({ timeout: { time: '60' } })
  })
})

it('a very long target is refused with the maximum length', async () => {
  place.manifest(www, { timeout: { time: 60 } })
  for (const command of ['plan', 'apply'])
    expect((await place.cli(command, '--target', 'a'.repeat(70_000))).err).toContain(
      'expected a glob of 1 to 1000 characters',
    )
})
