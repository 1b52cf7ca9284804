import { expect } from 'vitest'
import { fc, itOften, runs } from '../runs.ts'
import type { Answers } from './brute.ts'
import { find } from './find.ts'

/** The readings that texts of bans ask for, with the usual answer first. */
const usual: Answers = { R22: 'anchor', R23: 'all', R24: 'labels' }
const flips: [string, Answers][] = [
  ['R22', { ...usual, R22: 'literal' }],
  ['R23', { ...usual, R23: 'any' }],
  ['R24', { ...usual, R24: 'name' }],
]

interface Condition {
  list: string[]
  is_match: string
  case_insensitive: string
}
type Configs = Partial<Record<'referer' | 'ua', Condition>>

/** Tests whether a text of a ban matches a header. */
function matchesText(text: string, header: string, folds: boolean, answers: Answers): boolean {
  if (folds) return matchesText(text.toLowerCase(), header.toLowerCase(), false, answers)
  const [, begin, bare = '', end] = /^(\^?)(.*?)(\$?)$/.exec(text) ?? []
  if (begin !== '' && end !== '') return header === bare
  if (answers['R22'] === 'literal') return header.includes(text)
  if (begin !== '') return header.startsWith(bare)
  return end === '' ? header.includes(bare) : header.endsWith(bare)
}

/** Tests whether one text of a key matches; a Referer is compared without regard to case. */
function matchesOne(name: string, text: string, each: Condition, header: string, answers: Answers) {
  const folding = answers['R24'] === 'labels' ? 'no' : 'yes'
  const folds = name === 'referer' || each.case_insensitive === folding
  return matchesText(text, header, folds, answers)
}

function matchesBan(configs: Configs, headers: Record<string, string>, answers: Answers): boolean {
  const held = Object.entries(configs).map(([name, each]) => {
    const header = headers[name] ?? ''
    const isFound = each.list.some((text) => matchesOne(name, text, each, header, answers))
    return isFound === (each.is_match === 'yes')
  })
  return answers['R23'] === 'all' ? !held.includes(false) : held.includes(true)
}

const headers = ['']
for (let i = 0; headers.length < 400; i++)
  headers.push(...['a', 'b', 'A', 'B', '^', '$'].map((char) => (headers[i] ?? '') + char))
const requests = headers
  .slice(0, 60)
  .flatMap((referer) => headers.slice(0, 60).map((ua) => ({ referer, ua })))

const texts = fc.constantFrom('a', 'A', 'b', 'ab', 'aB', '^a', '^ab', 'b$', '^ab$', 'A$', '^A')
const condition = fc.record({
  list: fc.uniqueArray(texts, { minLength: 1, maxLength: 3 }),
  is_match: fc.constantFrom('yes', 'yes', 'no'),
  case_insensitive: fc.constantFrom('yes', 'no'),
})
const bans = fc.array(
  fc
    .record({ referer: condition, ua: condition }, { requiredKeys: [] })
    .filter((configs) => Object.keys(configs).length > 0),
  { minLength: 1, maxLength: 3 },
)

/** The answers under which a finding holds. */
function listHolding(rests: Answers): Answers[] {
  return [usual, ...flips.flatMap(([name, answers]) => (name in rests ? [] : [answers]))]
}

itOften('a redundant ban or text is covered under the answers on which it rests', () => {
  const count = { bans: 0, texts: 0, resting: 0 }
  fc.assert(
    fc.property(bans, (all) => {
      const items = { combined_ban: all.map((configs) => ({ action: 'ban', configs })) }
      const { findings } = find(items)
      for (const { code, rule: place, other, rests } of findings) {
        expect(code).toBe('entry-redundant')
        const [i, name, at] = place.pointer
          .split('/')
          .filter((part) => /^(\d+|ua|referer)$/.test(part))
        const [by = ''] = other.map(({ pointer }) => /\d+$/.exec(pointer)?.[0] ?? '')
        count.resting += Object.keys(rests).length > 0 ? 1 : 0
        const own = all[Number(i)] ?? {}
        if (name === undefined) {
          count.bans++
          const wide = all[Number(by)] ?? {}
          for (const answers of listHolding(rests))
            for (const request of requests)
              if (matchesBan(own, request, answers))
                expect(matchesBan(wide, request, answers)).toBe(true)
          continue
        }
        count.texts++
        const each = own[name as 'ua']
        if (each === undefined) throw new Error(`no ${name} at ${place.pointer}`)
        const covers = (answers: Answers) =>
          headers.every((header) => {
            const [wide, narrow] = [by, at].map((index) =>
              matchesOne(name, each.list[Number(index)] ?? '', each, header, answers),
            )
            return wide === true || narrow === false
          })
        expect(covers(usual)).toBe(true)
        const ending = flips.flatMap(([reading, answers]) => (covers(answers) ? [] : [reading]))
        expect(Object.keys(rests)).toEqual(ending)
      }
    }),
    { numRuns: runs(100, 3000) },
  )
  for (const each of Object.values(count)) expect(each).toBeGreaterThan(0)
})
