// @module-tag often
import { readFileSync } from 'node:fs'
import { parseSync, Visitor } from 'oxc-parser'
import { analyse, type ParsedLiteral } from 'scslre'
import { globSync } from 'tinyglobby'
import { expect, it } from 'vitest'

/** Places that build an expression while the program runs, each with what bounds its work. */
const built: Record<string, string> = {
  'src/core/catalog/header-credentials.ts':
    'alternatives that begin with a literal, at a word only',
  'src/core/catalog/value/regex.ts': 'never executed: only its syntax is checked',
  'src/core/trace/regex/syntax.ts': 'one class, for one character; patterns are only parsed',
  'src/manifest/yaml/parse-plain-yaml.ts': 'alternatives of literals of this list',
  'src/manifest/manifests/find-files.ts': 'a literal with an extension of two',
  'src/manifest/yaml/source-line.ts': 'names of fields; the line is cut',
  'src/manifest/secrets/scrubber.ts': 'plain texts side by side',
  'src/outlets/report/text/escape-invisible.ts': 'classes of single characters',
  'src/files/cache-folder.ts': 'anchored, on names of files',
  'src/files/write-output.ts': 'anchored, with the id of the process',
  'src/cli/init/find-placement.ts': 'anchored, parts between slashes',
  'src/cli/init/choose-pin.ts': 'anchored, on an option',
  'src/operations/submission/find-change.ts': 'a literal with a constant',
  'src/cli/action/run-program.ts': 'anchored alternatives',
  'src/core/model/json.ts': 'classes of single characters',
  'src/state/git/advise-remote.ts': 'alternatives of plain texts',
}

interface Found {
  place: string
  source: string
  flags: string
}

/** Finds the literal expressions of a source text, and counts those that are built. */
function findExpressions(file: string, text: string): { literals: Found[]; built: number } {
  const literals: Found[] = []
  let count = 0
  const add = (start: number, source: string, flags: string) =>
    literals.push({ place: `${file}:${text.slice(0, start).split('\n').length}`, source, flags })
  new Visitor({
    Literal(node) {
      if ('regex' in node) add(node.start, node.regex.pattern, node.regex.flags)
    },
    NewExpression({ callee, arguments: [pattern, flags], start }) {
      if (callee.type !== 'Identifier' || callee.name !== 'RegExp') return
      const isPlain = pattern?.type === 'Literal' && typeof pattern.value === 'string'
      const given = flags?.type === 'Literal' ? String(flags.value) : ''
      if (isPlain) add(start, pattern.value, given)
      else count++
    },
  }).visit(parseSync(file, text).program)
  return { literals, built: count }
}

type Part =
  | ParsedLiteral['pattern']
  | ParsedLiteral['pattern']['alternatives'][number]['elements'][number]

/** Writes a short text that a part of an expression matches, or nearly. */
function writeSample(part: Part, choose: 0 | -1): string {
  switch (part.type) {
    case 'Character':
      return String.fromCodePoint(part.value)
    case 'CharacterClass':
    case 'CharacterSet':
      return samples.find((each) => new RegExp(part.raw, 'u').test(each)) ?? ''
    case 'Quantifier':
      return part.max === 0 ? '' : writeSample(part.element, choose).repeat(Math.max(part.min, 1))
    case 'Pattern':
    case 'Group':
    case 'CapturingGroup': {
      const chosen = part.alternatives.at(choose)?.elements ?? []
      return chosen.map((each) => writeSample(each, choose)).join('')
    }
    default:
      return ''
  }
}

const samples = Array.from('a0 /-=@#_.:;,\t\n[({$%"\'é\u200b')

/** Lists texts to repeat: each part of an expression, with and without what comes before it. */
function listPumps(pattern: Part): Set<string> {
  const pumps = new Set<string>()
  const visit = (part: Part, before: string, choose: 0 | -1) => {
    if (part.type === 'Quantifier') visit(part.element, before, choose)
    if (!('alternatives' in part)) return
    for (const { elements } of part.alternatives) {
      let text = before
      for (const each of elements) {
        visit(each, text, choose)
        const sample = writeSample(each, choose)
        text += sample
        for (const pump of [sample, text, text.slice(0, -1)]) pumps.add(pump)
      }
    }
  }
  visit(pattern, '', 0)
  visit(pattern, '', -1)
  pumps.delete('')
  return pumps
}

const [short, long] = [4_000, 50_000]
/** Less than a quadratic search takes for the short text. */
const minMs = 0.5
/** More than a linear search takes on a busy machine; a quadratic one takes ten times as long. */
const maxMs = 30

/** Finds a text whose search takes more than linear time; null if none does. */
function findSlowText({ source, flags }: Found, pattern: ParsedLiteral['pattern']): string | null {
  const search = new RegExp(source, flags.includes('g') ? flags : `${flags}g`)
  for (const pump of listPumps(pattern))
    for (const [start, end] of [
      ['', ''],
      ['x', '\n\0'],
    ] as const) {
      const measure = (length = long) => {
        const text = start + pump.repeat(Math.ceil(length / pump.length)) + end
        const before = process.cpuUsage()
        text.replace(search, '')
        return process.cpuUsage(before).user / 1000
      }
      if (measure(short) < minMs) continue
      if (measure() > maxMs && measure() > maxMs)
        return `${JSON.stringify(pump).slice(0, 50)} repeated`
    }
  return null
}

function findFaults(file: string, text: string): string[] {
  return findExpressions(file, text).literals.flatMap((found) => {
    const { reports, parsed } = analyse({ source: found.source, flags: found.flags })
    const kinds = new Set(
      reports.map(({ type, exponential }) => (exponential ? 'exponential' : type)),
    )
    const slow = kinds.size > 0 ? [...kinds].join(', ') : findSlowText(found, parsed.pattern)
    return slow === null ? [] : [`${found.place} /${found.source}/${found.flags}: ${slow}`]
  })
}

const files = globSync('src/**/*.ts', { ignore: 'src/**/generated/**' }).toSorted()

it('every expression matches in linear time', () => {
  expect(files.flatMap((file) => findFaults(file, readFileSync(file, 'utf8')))).toEqual([])
})

it('expressions are built in known places only', () => {
  const found = files.filter((file) => findExpressions(file, readFileSync(file, 'utf8')).built > 0)
  expect(found.toSorted()).toEqual(Object.keys(built).toSorted())
})

it.each([
  String.raw`text.replace(/\/+$/, '')`,
  String.raw`text.matchAll(/\$\{secret:([^}]*)\}/g)`,
  String.raw`text.replace(/\$\$\{|\$\{(?:([^}]*)\})?/g, '')`,
  String.raw`/^(.*)\t(.*)$/.test(text)`,
  String.raw`/(^|\s)#.*$/.exec(text)`,
  String.raw`/^[{\s]*domain/m.test(text)`,
  String.raw`/(a|a)*b/.test(text)`,
  String.raw`/<([^>]+)>/.exec(text)`,
  String.raw`new RegExp('\\s+$').test(text)`,
])('the check finds %s', (code) => {
  expect(findFaults('shortcut.ts', code)).toHaveLength(1)
})
