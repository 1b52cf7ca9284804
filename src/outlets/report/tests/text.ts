import { listSome, mapSome, pluralize } from '../../../core/model/text/words.ts'
import { isObject, type Json } from '../../../core/model/json.ts'
import type {
  DecidingRule,
  MutationReport,
  Survivor,
  Tested,
  TestFailure,
  TestResult,
} from '../../../core/tests/results.ts'
import type { Reply } from '../../../core/trace/reply.ts'
import { describeReasons } from '../trace/answers.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { measureWidth } from '../text/display-width.ts'
import type { Paint } from '../text/paint.ts'
import { truncate, wrap } from '../text/wrap.ts'

/** How a text is laid out: in lines of at most 80 columns. */
export interface TestLayout {
  paint: Paint
  columns: number
  /** Leave out the tests that pass. */
  quiet?: boolean
}

/** Failures of a test that are shown in full. */
const maxFailures = 10

/** Formats results: a line a test, what failed and why, and the totals. */
export function formatTests({ results, mutations }: Tested, layout: TestLayout): string {
  const own = { ...layout, columns: Math.max(40, Math.min(80, layout.columns)) }
  const shown = results.filter(({ outcome }) => layout.quiet !== true || outcome === 'failed')
  const lines = shown.map((result) => formatResult(result, own))
  const changes = mutations === null ? [] : ['', formatMutations(mutations, own)]
  return `${[...lines, layout.paint.bold(describeTotals(results)), ...changes].join('\n')}\n`
}

/** Describes how many tests passed. */
export function describeTotals(results: readonly TestResult[]): string {
  const failed = results.filter(({ outcome }) => outcome === 'failed').length
  if (results.length === 0) return 'No test ran.'
  if (failed === 0) return `${pluralize(results.length, 'test')} passed.`
  return `${failed} of ${pluralize(results.length, 'test')} failed.`
}

/** Formats one test: its line, and what failed. */
export function formatResult(result: TestResult, { paint, columns }: TestLayout): string {
  const { name, file, failures, outcome } = result
  const isPassed = outcome === 'passed'
  const mark = isPassed ? paint.green('ok  ') : paint.red('FAIL')
  const path = escapeInvisible(isPassed ? file : `${file}:${result.line}`)
  const shown = truncate(escapeInvisible(name), 2 * columns)
  const gap = columns - 6 - measureWidth(shown) - measureWidth(path)
  const place = gap < 2 ? `\n      ${truncate(path, columns - 6)}` : ' '.repeat(gap) + path
  return [
    `${mark}  ${wrap(shown, columns, '      ').trimStart()}${paint.dim(place)}`,
    ...mapSome(
      failures,
      maxFailures,
      (failure, i) => {
        const isSame = i > 0 && describeAsked(failure) === describeAsked(failures[i - 1] ?? failure)
        return formatFailure(failure, isSame, paint, columns)
      },
      (rest) => `  and ${pluralize(rest, 'more failure')}`,
    ),
  ].join('\n')
}

/** Formats a failure: what was asked, where it is expected, expected and got, why, what helps. */
function formatFailure(failure: TestFailure, isSame: boolean, paint: Paint, columns: number) {
  const { check, name, file, line, column, expected, got } = failure
  const rows = [
    ['expected', describeValue(expected)],
    ['got', describeGot(got)],
    ...describeWhy(failure).map((text, i) => [i === 0 ? 'why' : '', text]),
    ...describeHelp(failure).map((text) => ['help', text]),
  ]
  return [
    ...(isSame || check === 'form'
      ? []
      : [wrap(escapeInvisible(describeAsked(failure)), columns, '  ')]),
    paint.bold(wrap(escapeInvisible(`${name}  ${file}:${line}:${column}`), columns, '    ')),
    ...rows.map(([label = '', text = '']) => {
      const indent = ' '.repeat(16)
      return `      ${label.padEnd(10)}${wrap(escapeInvisible(text), columns, indent).slice(16)}`
    }),
  ].join('\n')
}

/** Describes what was asked: a request, or domains. */
function describeAsked({ url, domains }: TestFailure): string {
  return url ?? (domains.length > 1 ? `${domains.length} domains: ` : '') + listSome(domains)
}

/** Describes in one line what failed, for annotations and other programs. */
export function describeFailure(failure: TestFailure): string {
  if (failure.check === 'form') return `${failure.name}: ${describeGot(failure.got)}`
  const why = describeWhy(failure)
  return (
    `${failure.name} of ${describeAsked(failure)}: ` +
    `expected ${describeValue(failure.expected)}, got ${describeGot(failure.got)}` +
    (why.length === 0 ? '' : `, because of ${why.join('; ')}`)
  )
}

function describeGot(got: Reply): string {
  if ('value' in got) return describeValue(got.value)
  const fault = got.unknown.find((reason) => reason.startsWith('bad-request '))
  if (fault !== undefined) return `an error: ${fault.slice('bad-request '.length)}`
  return `unknown (${describeReasons(got.unknown)})`
}

/** Describes a value: text without quotes where that is clear. */
function describeValue(value: Json): string {
  if (value === null) return 'nothing'
  const isPlain = typeof value === 'string' && value !== '' && value.trim() === value
  const text = isPlain ? value : JSON.stringify(value, showTarget)
  // Long values break behind their parts.
  return truncate(isPlain ? text : text.replaceAll('","', '", "'), 300)
}

function describeWhy({ rules, got, name }: TestFailure): string[] {
  const value = 'value' in got ? String(got.value) : ''
  const described = rules.map(describeRule)
  if (name.startsWith('access.') && described.length === 0) return ['no check is set']
  const [first] = rules
  if (first?.file === undefined) return described
  const isPass = ['allowed', 'pass', 'served'].includes(value)
  if (isPass || (name === 'access.deciding' && value === 'null'))
    return ['none of these denies the request:', ...described]
  const isOfCache = name.startsWith('cache.') && first.item.startsWith('cache_rule')
  return isOfCache && first.pointer === '' ? ['no rule matches in', ...described] : described
}

function describeRule({ item, pointer, pattern, file, line, manifest }: DecidingRule): string {
  if (file === undefined) return `${item} is not set`
  const what = pattern === undefined ? '' : ` ${truncate(pattern, 200)}`
  const user = manifest === undefined ? '' : `, used by ${manifest}`
  return `${item}${pointer}${what}  ${file}:${line}${user}`
}

/** Describes what decides an unknown answer. */
function describeHelp({ got, check }: TestFailure): string[] {
  if (check === 'plan') return ['"edgewise plan" lists changes and writes']
  if (!('unknown' in got)) return []
  const list = (kind: string) =>
    got.unknown.flatMap((reason) => (reason.startsWith(kind) ? reason.slice(kind.length) : []))
  const facts = list('not-given ')
  const header = facts.find((fact) => fact.includes('headers.'))
  const isOfOrigin = header?.startsWith('origin.') === true
  const absent = isOfOrigin ? 'origin: {headers: {"*": null}}' : 'headers: {"*": null}'
  return [
    ...(facts.length === 0 ? [] : [`give ${listSome(facts)} in the request`]),
    ...(header === undefined ? [] : [`${absent} says that there are no others`]),
    ...(list('unmanaged ').length > 0 ? ['assume: {unmanaged: absent} in the test'] : []),
  ]
}

/** Shows a target of the origin without a weight as its address. */
function showTarget(_: string, value: Json): Json {
  return isObject(value) && value['weight'] === null ? (value['address'] ?? value) : value
}

/** Formats which changes of the manifests no test guards against. */
function formatMutations(report: MutationReport, { paint, columns }: TestLayout): string {
  const { survivors, tried, guarded, share, ineffective, left } = report
  const lines = survivors.flatMap((survivor) => {
    const { file, line, column, domains, example } = survivor
    const of = domains > 1 ? ` and ${domains - 1} more` : ''
    const place = `${file}:${line}:${column}  ${example ?? 'no domain'}${of}`
    const change = wrap(escapeInvisible(describeSurvivor(survivor)), columns, '    ')
    return [paint.dim(wrap(escapeInvisible(place), columns, '  ')), change]
  })
  const total =
    `Tests guard against ${guarded} of ${pluralize(tried, 'change')} (${share} %)` +
    (ineffective === 0
      ? ''
      : `; ${ineffective} more change${ineffective === 1 ? 's' : ''} nothing for any request`) +
    (left === 0 ? '.' : `; ${left} less dangerous ones were not tried (--limit).`)
  const title = lines.length === 0 ? [] : [paint.bold('No test fails after, worst first:')]
  return [...title, ...lines, paint.bold(wrap(total, columns, ''))].join('\n')
}

/** Describes a change of the manifests: `https/force_https: 301 -> 302`. */
function describeSurvivor({ item, pointer, kind, before, after, entries }: Survivor): string {
  const shown =
    isObject(before) || Array.isArray(before) ? '' : ` ${truncate(describeValue(before), 80)}`
  const name = item + pointer
  const more = entries === 1 ? '' : `; the same for ${entries - 1} more of its entries`
  return kind === 'drop'
    ? `${name} removed${shown}${more}`
    : `${name}:${shown} -> ${truncate(describeValue(after), 80)}${more}`
}
