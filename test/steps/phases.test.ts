import { expect, it } from 'vitest'
import { Place } from './cli.ts'
import { emulator, enterPlace, place, setStage } from './stage.ts'
import { itLong } from '../runs.ts'

setStage()

const clear = '\r\u001b[K'
const loading = [
  'listing 2 files',
  'loading 0 of 2 files',
  'loading 1 of 2 files',
  'checking 0 of 2 manifests',
  'checking 1 of 2 manifests',
]
const locking = ['acquiring the lock', 'loading the state']

/** Reads of the clock that take a quarter of a second; a look before a write must be young. */
let slowReads = Infinity

/** Creates a workspace with two domains on a terminal, where every phase takes a second. */
function enterTerminal(): void {
  enterPlace(new Place(emulator.url, 'id: phases'))
  for (const name of ['a', 'b']) place.manifest(`${name}.example.com`, { timeout: { time: '10' } })
  place.onTerminal = true
  let now = Date.parse('2026-11-22T00:00:00Z')
  slowReads = Infinity
  place.time = {
    get now() {
      return (now += slowReads-- > 0 ? 250 : 10)
    },
    set now(next: number) {
      now = next
    },
  }
}

/** Runs a command, expects that its live line is removed, and lists the lines that were drawn. */
async function listDrawn(...args: string[]): Promise<string[]> {
  const { code, err } = await place.cli(...args, '--yes')
  expect({ args, code, err }).toMatchObject({
    code: expect.toSatisfy((c: number) => c % 2 === 0) as number,
  })
  const parts = err.split(clear)
  expect(parts.at(-1)).toMatch(/^$|\n$/)
  const lines = parts.filter((part) => part !== '' && !part.includes('\n'))
  return lines.filter((line, i) => line !== lines[i - 1])
}

itLong('a terminal shows the phases of each command while it runs', async () => {
  enterTerminal()
  const show = (...args: string[]) => listDrawn(...args)
  expect(await show('validate')).toEqual(loading)
  const planning = ['comparing 2 domains', 'planning']
  expect(await show('plan')).toEqual([...loading, 'loading the state', ...planning])
  slowReads = 60
  expect((await show('apply')).slice(0, 9)).toEqual([...loading, ...locking, ...planning])
  slowReads = Infinity
  expect(await show('state', 'list')).toEqual([...loading, 'loading the state'])
  expect(await show('rollout', 'list')).toEqual([...loading, 'loading the state'])
  expect(await show('fmt')).toEqual([
    ...loading.slice(0, 3),
    'formatting 0 of 3 files',
    'formatting 1 of 3 files',
    'formatting 2 of 3 files',
    'writing 0 of 3 files',
    'writing 1 of 3 files',
    'writing 2 of 3 files',
  ])
  place.write('seen.json', '{"a.example.com": {"timeout": {"time": "10"}}}')
  expect(await show('drift', '--observed', 'seen.json')).toEqual([
    ...loading,
    'loading the state',
    'loading the observed configuration',
    'comparing 2 domains',
  ])
  expect(await show('state', 'forget', 'a.example.com')).toEqual([
    ...loading,
    ...locking,
    'saving the state of 1 domain',
  ])
  expect(await show('state', 'move', 'b.example.com', '--to', 'other')).toEqual([
    ...loading,
    ...locking,
    'saving the state of 1 domain',
  ])
})

it('an import shows its phases', async () => {
  enterTerminal()
  const config = { 'a.example.com': 10, 'c.example.com': 20 }
  const observed = Object.entries(config).map(([domain, time]) => [
    domain,
    { timeout: { time: String(time) } },
  ])
  place.write('seen.json', JSON.stringify(Object.fromEntries(observed)))
  expect(await listDrawn('import', 'seen.json', '--write-manifests')).toEqual([
    ...loading,
    'loading 1 kB to import',
    ...locking,
    'comparing 2 domains',
    'preparing 1 manifest',
    'preparing 0 of 1 manifest',
    'listing files',
    ...loading.slice(0, 3),
    'checking 0 of 3 manifests',
    'checking 1 of 3 manifests',
    'checking 2 of 3 manifests',
    'writing 0 of 1 file',
    'saving the state of 2 domains',
  ])
})

it.each([['--json'], ['--quiet']])('%s shows no phases', async (option) => {
  enterTerminal()
  expect((await place.cli('plan', option)).err).not.toContain(clear)
})

it('a short command without a terminal shows no phases', async () => {
  enterTerminal()
  place.onTerminal = false
  place.time = null
  const { err } = await place.cli('plan')
  expect(err).not.toMatch(/loading|comparing|planning/)
})
