import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseSavedPlan } from '../../src/core/plan/saved-plan.ts'
import { parseAddress } from '../../src/state/format/address-file.ts'
import { formatCalls, parseCalls } from '../../src/state/format/calls.ts'
import { formatDomainFile, parseDomainFile } from '../../src/state/format/domain-file.ts'
import {
  formatDoubt,
  formatEntry,
  formatBatch,
  parseDoubt,
  parseEntry,
  parseBatch,
} from '../../src/state/format/journal.ts'
import { formatLock, parseLock } from '../../src/state/format/lock-file.ts'
import {
  formatOutcomes,
  parseOutcomes,
  formatLogLine,
  parseLog,
} from '../../src/state/format/log-file.ts'
import { formatRollout, parseRollout } from '../../src/state/format/rollout-file.ts'
import { parseJson, type Json } from '../../src/core/model/json.ts'
import { fileKinds, findSchemaFaults, stateSchemas } from './state-schemas.ts'
import { formatMoved } from '../../src/state/store/moved-domains.ts'
import { formatPruned } from '../../src/state/store/prune.ts'
import { formatFile, parseFile } from '../../src/state/format/parse-file.ts'
import { formatFigures } from '../../src/state/store/traffic.ts'
import {
  movedFile,
  prunedFile,
  restraintsFile,
  saltFile,
  trafficFile,
  stopFile,
} from '../../src/core/model/generated/state-validators.ts'

const page = readFileSync(new URL('../../docs/internals/state-format.md', import.meta.url), 'utf8')
/** The first example of each schema. */
const examples = new Map(
  fileKinds.map((name) => {
    const [example = null] = (stateSchemas.get(name)?.['examples'] ?? []) as Json[]
    return [name, JSON.stringify(example)]
  }),
)

it('the page on stored files links the schema of each', () => {
  const linked = page.matchAll(/\]\(\.\.\/\.\.\/schemas\/state\/(\w+)\.schema\.json\)/g)
  expect(new Set(Array.from(linked, ([, name]) => name))).toEqual(new Set(fileKinds))
})

const parse = (name: string) => JSON.parse(examples.get(name) ?? '') as Json

describe('the schemas of stored files', () => {
  it.each(fileKinds)('have an example of %s that fits', (name) => {
    expect(findSchemaFaults(name, parse(name))).toEqual([])
  })

  it.each<[string, (text: string) => string]>([
    [
      'domain',
      (text) => {
        const { domain, items } = parseDomainFile('example', text)
        return formatDomainFile(domain, items)
      },
    ],
    ['journal', (text) => formatEntry(parseEntry('example', text))],
    ['moved', (text) => formatMoved(parseFile('example', text, 'moved', movedFile).moved)],
    ['pruned', (text) => formatPruned(parseFile('example', text, 'pruned', prunedFile))],
    ['stop', (text) => formatFile(stopFile, parseJson(text) as never)],
    ['salt', (text) => formatFile(saltFile, parseFile('example', text, 'salt', saltFile))],
    [
      'restraints',
      (text) =>
        formatFile(restraintsFile, parseFile('example', text, 'restraints', restraintsFile)),
    ],
    ['traffic', (text) => formatFigures(parseFile('example', text, 'traffic', trafficFile))],
    ['log', (text) => parseLog('example', text).map(formatLogLine).join('')],
    ['doubt', (text) => formatDoubt(parseDoubt('example', text))],
    [
      'outcomes',
      (text) => parseOutcomes('example', 'default/emulator', text).map(formatOutcomes).join(''),
    ],
    ['lock', (text) => formatLock(parseLock(text), 3) ?? ''],
    ['batch', (text) => formatBatch({ number: 1, ...parseBatch('example', text) })],
    ['rollout', (text) => formatRollout(parseRollout('example', text))],
    [
      'calls',
      (text) => {
        const { apply, calls } = parseCalls(parseJson(text))
        return formatCalls(apply, calls)
      },
    ],
  ])('have an example of %s that the program writes alike', (name, rewrite) => {
    expect(JSON.parse(rewrite(`${examples.get(name)}\n`))).toEqual(parse(name))
  })

  it('have an address and a plan file that the program can parse', () => {
    expect(parseAddress(examples.get('address') ?? '')?.address).toBe('https://api.example.net')
    expect(parseSavedPlan(parseJson(examples.get('plan') ?? '')).selection.items).toEqual([])
  })
})
