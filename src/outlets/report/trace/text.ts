import { toList, type Json, type JsonObject } from '../../../core/model/json.ts'
import { groupBy } from '../../../core/model/lists.ts'
import { listSome } from '../../../core/model/text/words.ts'
import { readings } from '../../../core/trace/readings.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import type { Paint } from '../text/paint.ts'
import { measureWidth } from '../text/display-width.ts'
import { cutMiddle, hardBlank, truncate, wrap } from '../text/wrap.ts'
import { describeAnswer, part, type TracedText } from './answers.ts'
import { describeTrace, nameRequest } from './sentence.ts'
import { countReached, listStages, type Line } from './stages.ts'

interface Layout {
  paint: Paint
  columns: number
  /** Show all checks, and every reason. */
  verbose: boolean
  /** Show what other answers of the assumed readings change. */
  varies?: boolean
}

/** Formats a trace: what happens in sentences, then the stages in lines, then what it rests on. */
export function formatTrace(traced: TracedText, layout: Layout): string {
  const columns = Math.max(40, Math.min(layout.columns, 80))
  return [
    formatTitle(traced.output, columns, layout.paint),
    wrap(describeTrace(traced), columns, ''),
    ...formatDetails(traced, { ...layout, columns }),
  ].join('\n')
}

/** Formats a trace for a page: its sentences in a line, then the stages and what it rests on. */
export function formatTracePanel(traced: TracedText, layout: Layout): string {
  const details = formatDetails(traced, layout).join('\n').trimStart()
  return `${describeTrace(traced)}\n${details}\n`
}

/** Formats what is below the sentences. */
function formatDetails(
  traced: TracedText,
  { paint, columns, verbose, varies = false }: Layout,
): string[] {
  const { output } = traced
  const lines = listStages(traced, verbose).map((line) => formatLine(line, columns, paint))
  const assumed = listAssumed(output, verbose)
  const notes = toList(output['notes']).flatMap((note) => noteWords[String(note)] ?? [])
  const formatDim = (label: string, text: string) =>
    `\n${paint.dim(formatNote(label, text, columns))}`
  return [
    ...(lines.length === 0 ? [] : ['', ...lines]),
    ...(varies ? formatVariations(output, assumed, columns) : []),
    ...notes.map((note) => formatDim('Note', note)),
    ...(assumed.length === 0
      ? []
      : [formatDim('Assumed', describeAssumed(output, assumed, varies))]),
  ]
}

/** What else there is to know, by the names of notes. */
const noteWords: Record<string, string | undefined> = {
  'extend-set': 'extend may change more than is described here.',
  'origin-loop': 'an origin leads back to this domain.',
}

function formatTitle(output: JsonObject, columns: number, paint: Paint): string {
  const shown = cutMiddle(escapeInvisible(nameRequest(output)), 4 * columns)
  const title = wrap(shown.replace(' ', hardBlank), columns, '').replace(hardBlank, ' ')
  const of = `(${String(output['of'])})`
  const gap = columns - measureWidth(title.split('\n').at(-1) ?? '') - of.length
  return paint.bold(title) + (gap < 2 ? '\n' : ' '.repeat(gap)) + paint.dim(of)
}

/** Columns of values, details and places in a line of 80. */
const starts = { value: 10, detail: 25, place: 56 }

function formatLine(line: Line, columns: number, paint: Paint): string {
  const { label, value, detail, place } = line
  const start = pad(label, starts.value)
  const first = pad(start + escapeInvisible(value), starts.detail) + escapeInvisible(detail)
  const whole = pad(first, starts.place) + escapeInvisible(place)
  const indent = ' '.repeat(starts.value)
  const text = wrap(first.slice(start.length), columns - start.length, '')
  const rest = place === '' ? '' : `\n${indent}${truncate(escapeInvisible(place), columns - 10)}`
  const shown =
    measureWidth(whole.trimEnd()) <= columns
      ? whole.trimEnd()
      : start + text.replaceAll('\n', `\n${indent}`) + rest
  return (label.startsWith(' ') ? paint.dim : paint.bold)(label) + shown.slice(label.length)
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(2, width - measureWidth(text)))
}

/** Formats a label with a text that is wrapped beside it. */
function formatNote(label: string, text: string, columns: number): string {
  return label.padEnd(10) + wrap(text, columns, ' '.repeat(10)).trimStart()
}

/** Fields of which a text shows nothing. */
const unshown = /^connection\.settings|^origin\.(?:auth|range|follow|\w*[tT]imeout)|otherHeaders/
/** Fields that a text shows, by the stages that a request reaches. */
const shown = [
  /^(?:outcome|connection)/,
  /^(?:access|checks|response\.status)/,
  /^(?:redirect|response\.location)/,
  /^/,
]

/** Lists the assumed readings, and `unmanaged`, on which something rests that is shown. */
function listAssumed(output: JsonObject, isVerbose: boolean): string[] {
  const reached = shown.slice(0, countReached(output, isVerbose) + 1)
  const isShown = (change: Json) => {
    const field = String(part(change, 'field'))
    return !unshown.test(field) && reached.some((each) => each.test(field))
  }
  const names = toList(output['vary'])
    .filter((each) => toList(part(each, 'changes')).some(isShown))
    .map((each) => String(part(each, 'reading')))
  const isOpen = part(output, 'assumed.unmanaged') !== undefined
  return [...new Set(names), ...(isOpen ? ['unmanaged'] : [])]
}

/** Formats what the other answers of each assumed reading would change. */
function formatVariations({ vary }: JsonObject, assumed: string[], columns: number): string[] {
  return assumed.flatMap((name) => {
    const own = toList(vary).filter((each) => part(each, 'reading') === name)
    const answers = groupBy(own, (each) => describeChanges(toList(part(each, 'changes'))))
    const lines = Array.from(answers, ([changed, each]) => {
      const given = each.map((one) => [part(one, 'answer')].flat().join('+'))
      const text = `${listSome(given)}: ${changed}`
      return wrap(text, columns - 2, ' '.repeat(10)).replaceAll('\n', '\n  ')
    })
    return own.length === 0
      ? []
      : ['', formatNote(name, `${meanings.get(name)}.`, columns), ...lines]
  })
}

/** Describes changed answers; an outcome stands for what follows from it. */
function describeChanges(changes: Json[]): string {
  const fields = changes.map((change) => String(part(change, 'field')))
  const texts = changes.map((change, i) => {
    const field = fields[i] ?? ''
    return `${field} ${describeAnswer(field, part(change, 'after'))}`
  })
  return listSome(texts, fields.includes('outcome') ? 1 : 3)
}

/** Describes in words what the answers rest on. */
function describeAssumed(
  { unmanaged, of }: JsonObject,
  assumed: string[],
  varies: boolean,
): string {
  const names = toList(unmanaged).map(String)
  const whose = of === 'desired' ? 'that no manifest mentions' : 'that are not managed'
  const items = names.length < 4 ? listSome(names) : `${names.length} items ${whose}`
  const clauses = assumed.map((name) => {
    const meaning = meanings.get(name)
    return meaning === undefined
      ? `${items} ${names.length === 1 ? 'is' : 'are'} not set`
      : `${meaning} (${name})`
  })
  const vary = varies ? '' : '--vary shows what each would change; '
  const hint = meanings.has(assumed[0] ?? '') ? ` ${vary}"edgewise explain ${assumed[0]}".` : ''
  return `${clauses.join('; ')}.${hint}`
}

/** What the answer of each reading means that holds. */
const meanings = new Map<string, string>(readings.map(({ name, meaning }) => [name, meaning]))
