import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseSavedPlan } from '../../src/plan/saved-plan.ts'
import { parseAddress } from '../../src/state/format/address-file.ts'
import { formatCalls, parseCalls } from '../../src/state/format/calls.ts'
import { formatDomainFile, parseDomainFile } from '../../src/state/format/domain-file.ts'
import {
  formatDoubt,
  formatEntry,
  formatWave,
  parseDoubt,
  parseEntry,
  parseWave,
} from '../../src/state/format/journal.ts'
import { formatLock, parseLock } from '../../src/state/format/lock-file.ts'
import { formatOutcomes, parseOutcomes } from '../../src/state/format/outcomes-file.ts'
import { formatLogLine, parseLog } from '../../src/state/format/log-file.ts'
import { formatMoved, parseMoved } from '../../src/state/format/moved-file.ts'
import { formatPruned, parsePruned } from '../../src/state/format/pruned-file.ts'
import { formatRollout, parseRollout } from '../../src/state/format/rollout-file.ts'
import { formatSalt, parseSalt } from '../../src/state/format/salt-file.ts'
import { parseJson } from '../../src/model/json.ts'
import { fileKinds, findSchemaFaults } from './state-schemas.ts'

const page = readFileSync(new URL('../../docs/state-format.md', import.meta.url), 'utf8')
/** Examples of the page, by the schema linked above them. */
const examples = new Map(
  Array.from(
    page.matchAll(
      /\nSchema(?: of a line)?: \[`(\w+)\.schema\.json`\][^#]*?\n```json\n([\s\S]*?)```/g,
    ),
    ([, name = '', text = '']) => [name, text],
  ),
)

describe('the page on stored files', () => {
  it('has an example of each file', () => {
    expect([...examples.keys()].toSorted()).toEqual(fileKinds.toSorted())
  })

  it.each(fileKinds)('has an example of %s that fits its schema', (name) => {
    expect(findSchemaFaults(name, JSON.parse(examples.get(name) ?? ''))).toEqual([])
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
    ['moved', (text) => formatMoved(parseMoved('example', text))],
    ['pruned', (text) => formatPruned(parsePruned('example', text))],
    ['salt', (text) => formatSalt(parseSalt('example', text))],
    ['log', (text) => parseLog('example', text).map(formatLogLine).join('')],
    ['doubt', (text) => formatDoubt(parseDoubt('example', text))],
    [
      'outcomes',
      (text) => parseOutcomes('example', 'default/emulator', text).map(formatOutcomes).join(''),
    ],
    ['lock', (text) => formatLock(parseLock(text), 3) ?? ''],
    ['wave', (text) => formatWave({ number: 1, ...parseWave('example', text) })],
    ['rollout', (text) => formatRollout(parseRollout('example', text))],
    [
      'calls',
      (text) => {
        const { apply, calls } = parseCalls(parseJson(text))
        return formatCalls(apply, calls)
      },
    ],
  ])('shows %s as the program writes it', (name, rewrite) => {
    const text = examples.get(name) ?? ''
    expect(rewrite(text)).toBe(text)
  })

  it('shows an address and a plan file that the program can parse', () => {
    expect(parseAddress(examples.get('address') ?? '')?.address).toBe('https://api.example.net')
    expect(parseSavedPlan(parseJson(examples.get('plan') ?? '')).effort).toBe('normal')
  })
})
