/**
 * Converts the text format of Prometheus, as prom-client prints it, to OpenMetrics: the family of a
 * counter has no `_total`. prom-client's own format renames the counters of a registry for good, so
 * that one registry can't be printed in both.
 */
export function toOpenMetrics(text: string): string {
  const lines = text.split('\n').filter((line) => line !== '')
  const counters = new Set(
    lines.flatMap((line) => /^# TYPE (\S+)_total counter$/.exec(line)?.[1] ?? []),
  )
  const converted = lines.map((line) =>
    line.replace(/^(# (?:TYPE|HELP) )(\S+)_total(?= )/, (whole, start: string, name: string) =>
      counters.has(name) ? `${start}${name}` : whole,
    ),
  )
  return `${converted.join('\n')}\n# EOF\n`
}
