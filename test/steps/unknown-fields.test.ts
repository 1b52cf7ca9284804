// @module-tag often
import { beforeEach, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { fetchConfig, setFaults } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'

setStage({ extended: true })

const www = 'www.example.com'
/** What must not be cached, and minds letter case: a query shows neither. */
const stored: JsonObject[] = [
  { match_method: 'ext', pattern: 'js', expire: 60, case_ignore: 'no', cache_or_not: 'no' },
  { match_method: 'dir', pattern: '/a', expire: 5, case_ignore: 'no' },
]
const options = ['--yes', '--allow', 'cache_rule_list']

/** Writes a configuration as another client does. */
async function writeAsOther(config: JsonObject, domains = www): Promise<void> {
  const answer = await fetch(`${emulator.url}/v2/domain/config`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: place.env['EDGEWISE_TOKEN'], domains, config }),
  })
  expect(await answer.json()).toMatchObject({ code: 0 })
}

const manifest = () => parse(place.read(`domains/${www}.yaml`)) as { config: JsonObject }
const rules = () => manifest().config['cache_rule_list'] as JsonObject[]

/** Changes fields of rules in the manifest, by the place of the rule. */
function edit(...edits: [number, JsonObject][]): void {
  const list = rules().map((rule, i) => ({ ...rule, ...edits.find(([at]) => at === i)?.[1] }))
  place.manifest(www, { ...manifest().config, cache_rule_list: list })
}

const atService = async () =>
  (await fetchConfig(emulator, www))['cache_rule_list'] as unknown as JsonObject[]

beforeEach(async () => {
  const settings = parse(place.read('edgewise.yaml')) as { service: JsonObject }
  settings.service['readBack'] = true
  place.write('edgewise.yaml', stringify(settings))
  await writeAsOther({ cache_rule_list: stored })
  const imported = await place.cli('import', '--live', '--write-manifests')
  expect(imported.code, imported.err).toBe(0)
})

describe('fields that the service never shows', () => {
  it('are in no manifest of an import, and unknown in state', async () => {
    for (const rule of rules()) {
      expect(Object.keys(rule)).not.toContain('case_ignore')
      expect(Object.keys(rule)).not.toContain('cache_or_not')
    }
    const items = await place.recorded(www)
    expect(items).toMatchObject({
      cache_rule_list: {
        unknownFields: ['/0/case_ignore', '/0/cache_or_not', '/1/case_ignore', '/1/cache_or_not'],
      },
    })
    const { out } = await place.cli('show', www)
    expect(out).toContain('not known: case_ignore, cache_or_not')
    expect(out).not.toContain('case_ignore yes')
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
  })

  it('are not verifiable in a drift check', async () => {
    const drift = await place.json('drift', '--live')
    expect(drift['items']).toMatchObject([
      {
        kinds: [],
        notVerifiable: ['/0/cache_or_not', '/0/case_ignore', '/1/cache_or_not', '/1/case_ignore'],
      },
    ])
  })

  it('are named by a plan that resets them, and need consent', async () => {
    edit([0, { expire: 90 }])
    const plan = await place.json('plan')
    expect(plan['changes']).toMatchObject([
      {
        before: [{ pattern: 'js', expire: 60 }, { pattern: '/a' }],
        resets: ['/0/case_ignore', '/0/cache_or_not', '/1/case_ignore', '/1/cache_or_not'],
      },
    ])
    const { out } = await place.cli('plan')
    expect(out).toContain('ext js: case_ignore unknown → yes')
    expect(out).toContain('ext js: cache_or_not unknown → left out')
    const refused = await place.cli('apply', '--yes')
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('cache_or_not')])
    expect(await atService()).toMatchObject(stored)
    expect((await place.json('plan', '--out', 'plan.json'))['changes']).toEqual(plan['changes'])
    const saved = await place.cli('apply', 'plan.json', ...options.slice(1))
    expect(saved.code, saved.err).toBe(0)
    expect((await atService())[0]).toMatchObject({ expire: 90, case_ignore: 'yes' })
    const items = await place.recorded(www)
    expect((items as JsonObject)['cache_rule_list']).not.toHaveProperty('unknownFields')
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
  })

  it('are sent without consent when the manifest has them', async () => {
    const named = { case_ignore: 'no', cache_or_not: 'no' }
    edit([0, { expire: 90, ...named }], [1, { ...named, cache_or_not: 'yes' }])
    const applied = await place.cli('apply', '--yes')
    expect(applied.code, applied.err).toBe(0)
    expect(await atService()).toMatchObject([
      { expire: 90, case_ignore: 'no', cache_or_not: 'no' },
      { expire: 5, case_ignore: 'no', cache_or_not: 'yes' },
    ])
  })

  it('are a change when only they are named, with any value', async () => {
    const all = { case_ignore: 'yes', cache_or_not: 'yes' }
    edit([0, all], [1, all])
    const { changes } = await place.json('plan')
    expect(changes).toMatchObject([
      { patch: [{ op: 'add' }, { op: 'add' }, { op: 'add' }, { op: 'add' }] },
    ])
    expect((changes as JsonObject[])[0]).not.toHaveProperty('resets')
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    expect(await atService()).toMatchObject([all, all])
  })

  it('of other rules are named too when a rule is added or removed', async () => {
    const config = manifest().config
    const added = { match_method: 'ext', pattern: 'css', expire: 1 }
    place.manifest(www, { cache_rule_list: [added, ...rules()] })
    expect((await place.json('plan'))['changes']).toMatchObject([
      { resets: ['/1/case_ignore', '/1/cache_or_not', '/2/case_ignore', '/2/cache_or_not'] },
    ])
    place.manifest(www, { cache_rule_list: rules().slice(-1) })
    expect((await place.json('plan'))['changes']).toMatchObject([
      { resets: ['/0/case_ignore', '/0/cache_or_not'] },
    ])
    place.manifest(www, { ...config, cache_rule_list: [] })
    const [change] = (await place.json('plan'))['changes'] as JsonObject[]
    expect(change).not.toHaveProperty('resets')
  })

  it('are not verifiable after an apply, and never as sent', async () => {
    edit([0, { expire: 90 }])
    const { err } = await place.cli('apply', ...options, '--verify')
    expect(err).toContain('Read back: 1 not verifiable as a whole')
    expect(err).not.toContain('as sent')
  })

  it('stay unknown when the same is imported again, and known once they were written', async () => {
    expect((await place.cli('import', '--live')).code).toBe(0)
    const unknown = await place.recorded(www)
    expect(unknown).toMatchObject({ cache_rule_list: { unknownFields: { length: 4 } } })
    edit([0, { expire: 90 }])
    expect((await place.cli('apply', ...options)).code).toBe(0)
    expect((await place.cli('import', '--live')).code).toBe(0)
    const known = await place.recorded(www)
    expect(known['cache_rule_list']).not.toHaveProperty('unknownFields')
  })

  it('are unknown in a file that leaves them out, but for those that are recorded', async () => {
    const shown = [{ match_method: 'ext', pattern: 'js', expire: 60, case_ignore: 'no' }]
    place.write('dump.json', JSON.stringify({ [www]: { cache_rule_list: shown } }))
    place.manifest(www, { cache_rule_list: shown })
    const imported = await place.cli('import', 'dump.json', '--replace')
    expect(imported.code, imported.err).toBe(0)
    const items = await place.recorded(www)
    expect(items).toMatchObject({ cache_rule_list: { unknownFields: ['/0/cache_or_not'] } })
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
  })

  it('are named by a repair that resets them', async () => {
    await writeAsOther({ cache_rule_list: [{ ...stored[0], expire: 61 }, stored[1]] as Json })
    const refused = await place.cli('drift', '--live', '--repair', '--yes')
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('case_ignore')])
    expect(await atService()).toMatchObject([{ expire: 61, cache_or_not: 'no' }, {}])
    const repaired = await place.cli('drift', '--live', '--repair', ...options)
    expect(repaired.code, repaired.err).toBe(0)
    expect(await atService()).toMatchObject([{ expire: 60 }, {}])
  })
})

describe('an order of header rules, which the service never shows', () => {
  const rule = { regex: '.*', head_op: 'ADD', head_direction: 'CLI_REP', head: 'A', value: '1' }

  it('is taken from the manifest by an import, and sent before it counts as known', async () => {
    await writeAsOther({ head_control: { list: [{ ...rule, order: 7 }] } })
    const { config } = manifest()
    place.manifest(www, { ...config, head_control: { list: [{ ...rule, order: 3 }] } })
    const imported = await place.json('import', '--live')
    expect(imported).toMatchObject({ items: 2, skipped: [] })
    const items = await place.recorded(www)
    expect(items).toMatchObject({ head_control: { unknownFields: ['/list/0/order'] } })
    expect((await place.json('plan'))['changes']).toMatchObject([
      { item: 'head_control', patch: [{ op: 'add', path: '/list/0/order', value: 3 }] },
    ])
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    expect(await fetchConfig(emulator, www)).toMatchObject({
      head_control: { list: [{ order: 3 }] },
    })
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
  })

  it('is asked for once by an import that writes manifests', async () => {
    const other = 'new.example.com'
    const list = [rule, { ...rule, head: 'B' }].map((each) => ({ ...each, order: 7 }))
    await writeAsOther({ head_control: { list } }, other)
    const asked: string[] = []
    place.ask = async (text) => {
      asked.push(text)
      return true
    }
    const imported = await place.cli('import', '--live', '--write-manifests', '--target', other)
    expect([imported.code, asked.length]).toEqual([0, 1])
    expect(asked[0]?.replaceAll(/\s+/g, ' ')).toContain('2 rules of head_control of 1 domain')
    expect(place.read(`domains/${other}.yaml`)).toMatch(/order: 1[^]*order: 2/)
    expect((await place.json('plan'))['changes']).toMatchObject([
      {
        domain: other,
        after: { list: [{ order: 1 }, { order: 2 }] },
        patch: { length: 2 },
      },
    ])
  })

  it('is missing in the reason why an item was skipped, in JSON', async () => {
    await writeAsOther({ head_control: { list: [{ ...rule, order: 7 }] } })
    const { skipped } = await place.json('import', '--live')
    expect(skipped).toMatchObject([
      { domain: www, item: 'head_control', reason: expect.stringContaining('order') as unknown },
    ])
  })
})

describe('domains that the service does not have', () => {
  it('are a difference, also when it has none of them', async () => {
    await fetch(`${emulator.url}/v2/domain?domains=${www}&token=${place.env['EDGEWISE_TOKEN']}`, {
      method: 'DELETE',
    })
    const { code, out } = await place.cli('drift', '--live')
    expect([code, out]).toEqual([2, expect.stringContaining('not at the service')])
    expect((await place.json('drift', '--live'))['unanswered']).toEqual([www])
  })
})

describe('a refused write of an item with fields that are not known', () => {
  it('leaves them as they were: neither known nor reset', async () => {
    edit([0, { expire: 90 }])
    await setFaults(emulator, { kind: 'refuse', item: 'cache_rule_list', probability: 1 })
    expect((await place.cli('apply', ...options)).code).toBe(3)
    await setFaults(emulator)
    const items = await place.recorded(www)
    expect(items).toMatchObject({ cache_rule_list: { unknownFields: { length: 4 } } })
    const again = await place.cli('apply', '--yes')
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('cache_or_not')])
    expect(await atService()).toMatchObject(stored)
  })

  it('is in-doubt about more than the two values when its answer is lost', async () => {
    edit([0, { expire: 90 }])
    await setFaults(emulator, { kind: 'reset-after', item: 'cache_rule_list', probability: 1 })
    expect((await place.cli('apply', ...options)).code).toBe(3)
    await setFaults(emulator)
    const items = await place.recorded(www)
    expect(items).toMatchObject({ cache_rule_list: { status: 'in-doubt', unknown: true } })
  })
})
