import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/model/json.ts'
import { Place, token } from './cli.ts'
import { emulator, enterPlace, place, setStage } from './stage.ts'
import { itLong } from '../runs.ts'

setStage()

const [www, img] = ['www.example.com', 'img.example.com']
const signed = (more: JsonObject = {}) => ({
  visit_timestamp: {
    pattern: '.*',
    time_format: 'timestamp',
    key: '${secret:signing}',
    deadtime: 60,
    req_uri_type: 1,
    ...more,
  },
})
const pin = '4711'
beforeEach(() => {
  enterPlace(new Place(emulator.url, 'secrets: {signing: {env: SIGNING}}\n'))
  place.env = { EDGEWISE_TOKEN: token, SIGNING: pin }
  place.manifest(www, signed())
})

const root = () => join(place.root, '.edgewise/state')
const listFiles = (pattern: RegExp) =>
  readdirSync(root(), { recursive: true, encoding: 'utf8' }).filter((path) => pattern.test(path))
const readState = () =>
  listFiles(/\.json$/)
    .map((path) => readFileSync(join(root(), path), 'utf8'))
    .join('\n')

describe('fingerprints', () => {
  itLong('have a random salt, so that the public id does not help to guess a secret', async () => {
    await place.settle()
    expect(readState()).toMatch(/"\$secret":"scrypt:[0-9a-f]{32}"/)
    const first = readState()
    enterPlace(new Place(emulator.url, 'secrets: {signing: {env: SIGNING}}\n'))
    place.env = { EDGEWISE_TOKEN: token, SIGNING: pin }
    await place.manifest(www, signed()).settle()
    const [one, two] = [first, readState()].map((text) => /scrypt:[0-9a-f]+/.exec(text)?.[0])
    expect(one).not.toBe(two)
  })

  it('of a plan before the first recording are new:NAME, and nothing is stored', async () => {
    const { changes } = await place.json('plan')
    expect(changes).toMatchObject([{ after: { key: { $secret: 'new:signing' } } }])
    expect((await place.cli('plan')).out).toContain('(secret signing, new)')
    expect((await place.cli('drift')).code).toBe(2)
    expect(() => readdirSync(root())).toThrow('ENOENT')
  })

  it('of a plan file may be new, also if another apply has made the salt since', async () => {
    await place.cli('plan', '--out', 'plan.json')
    place.manifest(img, signed())
    await place.cli('apply', '--yes', '--target', img)
    const applied = await place.cli('apply', 'plan.json')
    expect([applied.code, applied.err]).toEqual([0, expect.anything()])
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
    expect(readState()).not.toContain('new:signing')
  })

  it('are compared with what an import and an observation have', async () => {
    await place.settle()
    const live = (key: string) => ({ [www]: signed({ key }) })
    const source = join(place.root, 'live.json')
    place.write('live.json', JSON.stringify(live(pin)))
    expect((await place.cli('import', source)).code).toBe(0)
    expect((await place.cli('drift', '--observed', source)).code).toBe(0)
    place.write('live.json', JSON.stringify(live('other')))
    expect((await place.cli('import', source)).code).toBe(1)
    expect((await place.cli('drift', '--observed', source)).code).toBe(2)
  })

  itLong('survive pruning and forgetting, and a damaged salt is named', async () => {
    place.manifest(img, signed())
    await place.settle()
    const [path = ''] = listFiles(/^salt\/.*\.json$/)
    const salt = readFileSync(join(root(), path), 'utf8')
    await place.cli('state', 'forget', img, '--yes')
    await place.cli('state', 'prune', '--keep', '0d', '--yes')
    await place.cli('state', 'move', www, '--to', 'other', '--yes')
    expect(readFileSync(join(root(), path), 'utf8')).toBe(salt)
    place.write(
      'edgewise.yaml',
      place.read('edgewise.yaml').replace('version: 1', 'version: 1\nid: other'),
    )
    rmSync(join(place.root, `domains/${img}.yaml`))
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
    writeFileSync(join(root(), path), '{"format": "edgewise.salt/1", "salt": "short"}')
    const damaged = await place.cli('plan')
    expect([damaged.code, damaged.err.replace(/\s+/g, ' ')]).toEqual([
      1,
      expect.stringMatching(/salt.*\.json can't be used: at \/salt/),
    ])
  })
})

describe('validate', () => {
  it.each([
    ['a PIN', '4711'],
    ['few distinct characters', 'aabbaabbaabbaabb'],
    ['a word of lists', 'changeme123'],
  ])('warns of a secret that is easy to guess: %s', async (_why, value) => {
    place.env = { EDGEWISE_TOKEN: token, SIGNING: value }
    const { code, out } = await place.cli('validate')
    expect([code, out.replace(/\s+/g, ' ')]).toEqual([
      0,
      expect.stringContaining('secret "signing"'),
    ])
    expect(out).not.toContain(value)
    expect((await place.json('validate'))['diagnostics']).toMatchObject([
      { severity: 'warning', code: 'secret-weak', file: 'edgewise.yaml' },
    ])
  })

  it('does not warn of other secrets and those without a value', async () => {
    for (const value of ['kJ8#pQ2z!vX9w', undefined]) {
      place.env = { EDGEWISE_TOKEN: token, ...(value === undefined ? {} : { SIGNING: value }) }
      expect((await place.json('validate'))['diagnostics']).toEqual([])
    }
  })
})
