import { describe, expect, it } from 'vitest'
import { compileDomainGlobs } from '../../src/core/model/text/domain-glob.ts'
import { emulator, enterPlace, place, setStage } from './stage.ts'
import { Place } from './cli.ts'
import { itLong } from '../runs.ts'

setStage()

const domains = ['bank.example.com', 'm.example.com', 'mbank.example.com', 'www.example.com']

/** Lists and what they select; each place that takes globs has to agree. */
const lists: [string[], string[]][] = [
  [
    ['*.example.com', '!bank*'],
    ['m', 'mbank', 'www'],
  ],
  [['!bank*'], ['m', 'mbank', 'www']],
  [
    ['!*bank*', 'mbank*'],
    ['m', 'mbank', 'www'],
  ],
  [
    ['m*', '!*bank*', 'bank.example.com'],
    ['bank', 'm'],
  ],
  [['www.example.com', '!www.example.com'], []],
  [['{m,www}.example.com', '!M.EXAMPLE.COM'], ['www']],
]

const enter = (settings: string) => {
  enterPlace(new Place(emulator.url, settings))
  for (const domain of domains) place.manifest(domain, { timeout: { time: 60 } })
}
const shorten = (names: string[]) => names.map((name) => name.replace(/\..*/, '')).toSorted()

interface Planned {
  changes: { domain: string }[]
  writes: { wave: number; domains: string[] }[]
}

describe.each(lists)('the list %j', (patterns, expected) => {
  it('selects the same in memory', () => {
    expect(shorten(domains.filter(compileDomainGlobs(patterns)))).toEqual(expected)
  })

  it('selects the same as --target', async () => {
    enter('')
    const options = patterns.flatMap((each) => ['--target', each])
    const { changes } = (await place.json('plan', ...options)) as unknown as Planned
    expect(shorten(changes.map(({ domain }) => domain))).toEqual(expected)
  })

  it('selects the same as rollout.first', async () => {
    enter(`rollout: {waves: [1, 100%], pause: 0m, first: ${JSON.stringify(patterns)}}\n`)
    const { writes } = (await place.json('plan')) as unknown as Planned
    const first = writes.flatMap((write) => (write.wave === 1 ? write.domains : []))
    if (expected.length > 0) expect(expected).toEqual(expect.arrayContaining(shorten(first)))
    else expect(first).toHaveLength(1)
  })

  itLong('selects the same as guards.protect', async () => {
    enter(`guards: {protect: ${JSON.stringify(patterns)}}\n`)
    for (const domain of domains) {
      const { code, err } = await place.cli('apply', '--yes', '--target', domain)
      const [name = ''] = domain.split('.')
      expect([name, code]).toEqual([name, expected.includes(name) ? 1 : 0])
      if (code === 1) expect(err).toContain('protect')
    }
  })
})

describe('--exclude', () => {
  const planned = async (...options: string[]) => {
    const { changes } = (await place.json('plan', ...options)) as unknown as Planned
    return shorten(changes.map(({ domain }) => domain))
  }

  it('takes domains out of all, or of the targets wherever it stands', async () => {
    enter('')
    expect(await planned('--exclude', 'bank*')).toEqual(['m', 'mbank', 'www'])
    expect(await planned('--exclude', '*bank*', '--target', 'm*')).toEqual(['m'])
    expect(await planned('--exclude', 'www.*', '--exclude', 'm.*')).toEqual(['bank', 'mbank'])
  })

  itLong('applies to each command with --target', async () => {
    enter('')
    const all = ['--exclude', '*bank*']
    expect((await place.cli('apply', '--yes', ...all)).code).toBe(0)
    const { domains: recorded } = (await place.json('state', 'list')) as unknown as {
      domains: { domain: string }[]
    }
    expect(shorten(recorded.map(({ domain }) => domain))).toEqual(['m', 'www'])
    const { items } = (await place.json('drift', ...all)) as unknown as Planned & {
      items: { domain: string }[]
    }
    expect(shorten(items.map(({ domain }) => domain))).toEqual(['m', 'www'])
    for (const domain of domains) place.manifest(domain, { timeout: { time: 61 } })
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    expect((await place.cli('rollback', '--yes', '--exclude', 'm*')).code).toBe(0)
    expect(await planned('--exclude', 'bank*')).toEqual([])
    expect((await place.json('plan'))['summary']).toMatchObject({ held: 1 })
  })

  it('names a pattern that matches nothing', async () => {
    enter('')
    const { code, err } = await place.cli('plan', '--exclude', 'shop*')
    expect([code, err]).toEqual([1, expect.stringContaining('"!shop*"')])
  })
})

it('a rule of drift.ignore with "!" is for all other domains', async () => {
  enter('drift: {ignore: [{domain: "!bank*", item: timeout, reason: set by hand}]}\n')
  await place.cli('apply', '--yes')
  const observed = Object.fromEntries(
    domains.map((domain) => [domain, { timeout: { time: '61' } }]),
  )
  place.write('live.json', JSON.stringify(observed))
  const drift = (await place.json('drift', '--observed', 'live.json')) as unknown as {
    items: { domain: string; ignored?: unknown }[]
  }
  const ignored = drift.items.filter((item) => item.ignored !== undefined)
  expect(shorten(ignored.map(({ domain }) => domain))).toEqual(['m', 'mbank', 'www'])
})
