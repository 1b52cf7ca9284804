/** A figure with its goal. */
export interface Row {
  /** Name in JSON and in the kept ratios. */
  id: string
  what: string
  unit: 's' | 'MB' | ''
  /** Null if it could not be measured. */
  measured: number | null
  /** The figure that it is compared with; null for none. */
  base: number | null
  ratio: number | null
  /** Maximum of the ratio, or of the figure if there is no ratio; null for none. */
  goal: number | null
  /** The reason if it is not measured, or a remark. */
  note?: string
}

type Result = 'met' | 'short' | 'not measured' | '-'

/** CPU seconds of a call. */
export function measureCpu(run: () => void): number {
  const start = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1e6
}

/** Creates a row of a figure that is compared with nothing. */
export function createRow(
  id: string,
  what: string,
  unit: Row['unit'],
  measured: number,
  goal: number | null = null,
): Row {
  return { id, what, unit, measured, base: null, ratio: null, goal }
}

/** Creates a row of a figure beside another one of its kind. */
export function compareFigures(
  id: string,
  what: string,
  measured: number,
  base: number,
  goal: number | null,
  unit: Row['unit'] = '',
): Row {
  return { id, what, unit, measured, base, ratio: measured / base, goal }
}

/** Creates a row for something that can't be measured here. */
export function createUnmeasuredRow(id: string, what: string, goal: number, note: string): Row {
  return { id, what, unit: '', measured: null, base: null, ratio: null, goal, note }
}

/** Judges a row: a figure that was not measured never meets its goal. */
export function judge({ measured, ratio, goal }: Row): Result {
  if (measured === null) return 'not measured'
  if (goal === null) return '-'
  return (ratio ?? measured) <= goal ? 'met' : 'short'
}

export function isMissed(row: Row): boolean {
  return ['short', 'not measured'].includes(judge(row))
}

/** Chooses, for each row, the better one of two tries. */
export function chooseBetter(first: Row[], second: Row[]): Row[] {
  return first.map((row) => {
    const other = second.find(({ id }) => id === row.id)
    if (other === undefined || other.measured === null || row.measured === null) return row
    return (other.ratio ?? other.measured) < (row.ratio ?? row.measured) ? other : row
  })
}

/** Formats rows as a Markdown table; notes follow it. */
export function formatRows(rows: Row[]): string {
  const cells = rows.map((row) => [
    row.what,
    row.measured === null ? '' : formatNumber(row.measured, row.unit),
    row.base === null ? '' : formatNumber(row.base, row.unit),
    row.ratio === null ? '' : formatNumber(row.ratio, ''),
    row.goal === null ? '' : `≤ ${row.goal}${row.ratio === null ? formatUnit(row.unit) : ''}`,
    judge(row),
  ])
  const notes = rows.flatMap(({ what, note }) => (note === undefined ? [] : [`${what}: ${note}`]))
  return [formatTable([['figure', 'measured', 'base', 'ratio', 'goal', 'result'], ...cells])]
    .concat(notes.length === 0 ? [] : ['', ...notes])
    .join('\n')
}

/** Formats lines of cells as a Markdown table; the first line is its head. */
export function formatTable([head = [], ...lines]: string[][]): string {
  const widths = head.map((name, i) =>
    Math.max(name.length, ...lines.map((line) => line[i]?.length ?? 0)),
  )
  // Numbers are aligned on the right.
  const isNumber = (column: number) => column > 0 && head[column] !== 'result'
  const pad = (cell: string, i: number) =>
    isNumber(i) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)
  const format = (line: string[]) => `| ${line.map(pad).join(' | ')} |`
  const rule = widths.map((width, i) => '-'.repeat(width + 1) + (isNumber(i) ? ':' : '-'))
  return [format(head), `|${rule.join('|')}|`, ...lines.map(format)].join('\n')
}

/** Formats with three significant digits, from a hundred on without decimals. */
function formatNumber(value: number, unit: Row['unit']): string {
  const text = value >= 100 || Number.isInteger(value) ? value.toFixed(0) : value.toPrecision(3)
  return text + formatUnit(unit)
}

function formatUnit(unit: Row['unit']): string {
  return unit === '' ? '' : ` ${unit}`
}

/** Formats a share such as 0.15 as `15.0 %`. */
export function formatShare(share: number): string {
  return `${(100 * share).toFixed(1)} %`
}
