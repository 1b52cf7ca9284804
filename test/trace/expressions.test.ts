import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/core/model/json.ts'
import { compileExpression, findMatch } from '../../src/core/trace/regex/machine.ts'
import { parsePattern } from '../../src/core/trace/regex/syntax.ts'
import { buildSettings } from '../../src/core/trace/settings.ts'
import { compile, trace } from '../../src/core/trace/trace.ts'
import { itOften, runs } from '../runs.ts'
import { Chance } from '../simulation/chance.ts'

const atoms = ['a', 'b', 'B', '.', '[ab]', '[^aB]', '\\w', '\\W', '^', '$', '\\b', '\\B', '']
const references = ['\\1', '\\2']
const groups = ['(', '(', '(?:', '(?=', '(?!', '(?<=', '(?<!']
const counts = ['*', '+', '?', '{2}', '{1,3}', '{2,}', '*?', '+?', '??']

/** Draws an expression with look-arounds, references and empty rounds. */
function drawPattern(chance: Chance, depth: number): string {
  const draw = () => drawPattern(chance, depth - 1)
  const kind = depth === 0 ? 0 : chance.between(0, 5)
  if (kind === 0) return chance.pick([...atoms, ...references])
  if (kind === 1) return draw() + draw()
  if (kind === 2) return `(${draw()}|${draw()})`
  if (kind === 3) return `${chance.pick(groups)}${draw()})`
  return `${chance.pick(['(', '(?:'])}${draw()})${chance.pick(counts)}`
}

/** What the language itself finds: where the match and its groups are, -1 without. */
function findByLanguage(pattern: string, text: string, folds: boolean): number[] | null {
  const found = new RegExp(pattern, folds ? 'di' : 'd').exec(text)
  return found === null ? null : (found.indices ?? []).flatMap((place) => place ?? [-1, -1])
}

itOften('finds what the language itself finds', () => {
  for (const seed of Array.from({ length: runs(2000, 100_000) }, (_, i) => i)) {
    const chance = new Chance(`expression ${seed}`)
    const pattern = drawPattern(chance, 4) + drawPattern(chance, 3)
    const text = Array.from({ length: chance.between(0, 7) }, () =>
      chance.pick(['a', 'a', 'b', 'b', 'A', 'B', '/', '-']),
    ).join('')
    const folds = chance.happens(0.5)
    const expression = parsePattern(pattern)
    expect(expression, pattern).not.toBeNull()
    if (expression === null) continue
    const find = (keeps: boolean, whole: boolean) =>
      findMatch(compileExpression(expression, folds, keeps), text, whole)
    const what = `${pattern} ${JSON.stringify(text)} ${folds}`
    expect(find(true, false), what).toEqual(findByLanguage(pattern, text, folds))
    expect(find(true, true), what).toEqual(findByLanguage(`^(?:${pattern})$`, text, folds))
    expect(find(false, false) === null, what).toBe(find(true, false) === null)
    expect(find(false, true) === null, what).toBe(find(true, true) === null)
  }
})

/** Traces a request for a path of many `a` through one item. */
function traceOne(item: string, value: Json, path: string): unknown {
  const settings = buildSettings({ R5: 'path' })
  const compiled = compile('www.example.com', new Map([[item, [value]]]), settings)
  const request = { url: `https://www.example.com${path}` }
  const { replies } = trace(compiled, request, { visitor: 'usual', asks: false })
  return [replies.get('access.decision'), replies.get('origin.url')]
}

describe('expressions that ask for much', () => {
  const long = `/${'a'.repeat(4000)}`
  const undecided = (name: string) => ({ unknown: [`undecidable ${name}`] })

  it.each([
    ['groups in groups', `${'('.repeat(2000)}${')'.repeat(2000)}`],
    ['looks in looks', `${'(?='.repeat(1000)}${')'.repeat(1000)}`],
    ['groups with brackets in groups', `${'([)]'.repeat(700)}${')'.repeat(700)}`],
    ['counts in counts', '(?=x)(?:(?:a{100}){100}){100}'],
    ['references to many groups', `${'(a)?'.repeat(900)}\\1!`],
    ['references to long groups', '(a*)(a*)(a*)\\1\\2\\3!'],
    ['looks at every place', '(?=(a|aa)+!)'],
  ])('%s are undecidable, soon', (_, pattern) => {
    const start = process.cpuUsage().user
    const [access] = traceOne('deny_url', { urls: [pattern] }, long) as Json[]
    expect(access).toEqual(undecided('deny_url/urls/0'))
    expect((process.cpuUsage().user - start) / 1e6).toBeLessThan(20)
  })

  it('groups that are repeated a thousand times are undecidable, soon', () => {
    const rule = { origin_url: `/(?:(a)?${'(b)?'.repeat(260)}){1000}`, target_url: '/$1' }
    const [, url] = traceOne('source_url_rewrite', [rule], long) as Json[]
    expect(url).toEqual(undecided('source_url_rewrite/0'))
  })

  it('a full path with a star may be longer than an expression', () => {
    const rules = [{ match_method: 'route', pattern: `/${'-'.repeat(5000)}*z`, expire: 60 }]
    const settings = buildSettings()
    const compiled = compile('www.example.com', new Map([['cache_rule_list', [rules]]]), settings)
    const request = { url: `https://www.example.com/${'-'.repeat(5000)}/z` }
    const { replies } = trace(compiled, request, { visitor: 'usual', asks: false })
    expect(replies.get('cache.rule')).toMatchObject({ value: { pointer: '/0' } })
  })
})
