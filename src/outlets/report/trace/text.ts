import { toList, type Json, type JsonObject } from '../../../core/model/json.ts'
import { groupBy } from '../../../core/model/lists.ts'
import { listSome } from '../../../core/model/text/words.ts'
import { readings } from '../../../core/trace/readings.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import type { Paint } from '../text/paint.ts'
import { measureWidth } from '../text/display-width.ts'
import { cutMiddle, hardBlank, wrap } from '../text/wrap.ts'
import { countReached, describeAnswer, part, type TracedText } from './answers.ts'
import { describeTrace, nameRequest } from './sentence.ts'
import { listStages, type Line } from './stages.ts'

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
  const head = formatTitle(traced.output, columns, layout.paint)
  const told = wrap(describeTrace(traced), columns, '')
  return `${head}\n${told}\n\n${formatDetails(traced, { ...layout, columns })}`.trimEnd()
}

/** Formats a trace for a page: its sentences in a line, then the stages and what it rests on. */
export function formatTracePanel(traced: TracedText, layout: Layout): string {
  return `${describeTrace(traced)}\n${formatDetails(traced, layout)}\n`
}

/** Formats what is below the sentences, in parts with blank lines between them. */
function formatDetails(
  traced: TracedText,
  { paint, columns, verbose, varies = false }: Layout,
): string {
  const { output } = traced
  const lines = listStages(traced, verbose).map((line) => formatLine(line, columns, paint))
  const assumed = listAssumed(output, verbose)
  const notes = toList(output['notes']).map((note) =>
    formatNote('Note', noteWords[String(note)], columns),
  )
  const rests = formatNote('Assumed', describeAssumed(output, assumed, varies), columns)
  return [
    lines.join('\n'),
    ...(varies ? assumed.map((name) => formatVariations(output, name, columns)) : []),
    ...[...notes, rests].map((note) => note && paint.dim(note)),
  ]
    .filter((each) => each !== '')
    .join('\n\n')
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

function formatLine({ label, value, detail, place }: Line, columns: number, paint: Paint): string {
  const start = pad(label, starts.value)
  const first = escapeInvisible(pad(start + value, starts.detail) + detail)
  const end = escapeInvisible(place)
  const whole = (pad(first, starts.place) + end).trimEnd()
  const parts = wrap(`${first.slice(start.length)}\n${end}`, columns - start.length, '')
  const isLong = measureWidth(whole) > columns
  const shown = isLong ? start + parts.replaceAll('\n', `\n${' '.repeat(starts.value)}`) : whole
  return (
    (label.startsWith(' ') ? paint.dim : paint.bold)(label) + shown.slice(label.length).trimEnd()
  )
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(2, width - measureWidth(text)))
}

/** Formats a label with a text that is wrapped beside it; empty without a text. */
function formatNote(label: string, text = '', columns: number): string {
  return text && label.padEnd(10) + wrap(text, columns, ' '.repeat(10)).trimStart()
}

/** How many stages a request reaches, at least, of which a text shows a field, or all of them. */
const depths: Record<string, number | undefined> = {
  outcome: 0,
  connection: 0,
  'connection.settings': Infinity,
  access: 1,
  checks: 1,
  'response.status': 1,
  redirect: 2,
  'response.location': 2,
  'origin.otherHeaders': Infinity,
  'origin.auth': Infinity,
  'origin.range': Infinity,
  'origin.follow': Infinity,
  'origin.timeout': Infinity,
  'origin.connectTimeout': Infinity,
  'response.otherHeaders': Infinity,
}

/** Lists the assumed readings, and `unmanaged`, on which something rests that is shown. */
function listAssumed(output: JsonObject, isVerbose: boolean): string[] {
  const reached = countReached(output, isVerbose)
  const isShown = (change: Json) => {
    const field = String(part(change, 'field'))
    return (depths[field] ?? depths[field.replace(/\..*/s, '')] ?? 3) <= reached
  }
  const names = toList(output['vary'])
    .filter((each) => toList(part(each, 'changes')).some(isShown))
    .map((each) => String(part(each, 'reading')))
  const isOpen = part(output, 'assumed.unmanaged') !== undefined
  return [...new Set(names), ...(isOpen ? ['unmanaged'] : [])]
}

/** Formats what the other answers of a reading would change; empty of what is no reading. */
function formatVariations({ vary }: JsonObject, name: string, columns: number): string {
  const meaning = meanings.get(name)
  const own = toList(vary).filter((each) => part(each, 'reading') === name)
  const answers = groupBy(own, (each) => describeChanges(toList(part(each, 'changes'))))
  const lines = Array.from(answers, ([changed, each]) => {
    const given = each.map((one) => [part(one, 'answer')].flat().join('+'))
    const text = `${listSome(given)}: ${changed}`
    return wrap(text, columns - 2, ' '.repeat(10)).replaceAll('\n', '\n  ')
  })
  return [formatNote(name, meaning && `${meaning}.`, columns), ...lines].join('\n')
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
  if (assumed.length === 0) return ''
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
