/** A family of metrics; the names of its labels are sorted, those of buckets included. */
export interface Family {
  type: string
  samples: number
  labels: string[]
}

const suffixes: Record<string, string[]> = {
  counter: ['_total'],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
}
const samplePattern =
  /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? ([-+]?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|Inf|Nan))$/i
const labelPattern = /([A-Za-z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y

/**
 * Reads a text of OpenMetrics strictly: each sample belongs to the family above it, and has a
 * suffix of its type; families and samples are unique; the text ends with `# EOF`.
 *
 * @throws Error naming the line that is not allowed
 */
export function readOpenMetrics(text: string): Map<string, Family> {
  if (!text.endsWith('\n# EOF\n')) throw new Error('no # EOF at the end')
  const families = new Map<string, Family>()
  const seen = new Set<string>()
  let current = ''
  for (const line of text.slice(0, -'\n# EOF\n'.length).split('\n')) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? []
    if (keyword !== undefined) {
      if (keyword === 'TYPE') {
        if (families.has(name)) throw new Error(`twice: ${line}`)
        if (suffixes[rest] === undefined) throw new Error(`unknown type: ${line}`)
        if (rest === 'counter' && name.endsWith('_total')) throw new Error(`suffix: ${line}`)
        families.set(name, { type: rest, samples: 0, labels: [] })
        current = name
      } else if (families.has(name) && name !== current) throw new Error(`elsewhere: ${line}`)
      continue
    }
    const [, sample = '', labels = '', value] = samplePattern.exec(line) ?? []
    const family = families.get(current)
    if (value === undefined || family === undefined) throw new Error(`not a sample: ${line}`)
    const suffix = sample.startsWith(current) ? sample.slice(current.length) : null
    if (suffix === null || !suffixes[family.type]?.includes(suffix))
      throw new Error(`not of ${current}: ${line}`)
    const names = readLabels(labels, line)
    if (seen.has(`${sample}{${labels}`)) throw new Error(`twice: ${line}`)
    seen.add(`${sample}{${labels}`)
    family.samples++
    family.labels = [...new Set([...family.labels, ...names])].toSorted()
  }
  return families
}

function readLabels(text: string, line: string): string[] {
  const names: string[] = []
  labelPattern.lastIndex = 0
  while (labelPattern.lastIndex < text.length) {
    const [, name] = labelPattern.exec(text) ?? []
    if (name === undefined || names.includes(name)) throw new Error(`labels: ${line}`)
    names.push(name)
  }
  return names
}
