import { collectDefaultMetrics, Registry } from 'prom-client'
import { createInstruments } from './instruments.ts'
import {
  createBranchMetrics,
  createErrorMetrics,
  createLeaderMetrics,
  createOutboxMetrics,
} from './replica-metrics.ts'
import { createRunMetrics } from './run-metrics.ts'
import { createStateMetrics } from './state-metrics.ts'

export type ServerMetrics = ReturnType<typeof createServerMetrics>

/** Creates the metrics of a server in a registry of their own. */
export function createServerMetrics(common: { workspace: string; account: string }) {
  const registry = new Registry()
  registry.setDefaultLabels(common)
  const instruments = createInstruments(registry)
  return {
    ...createErrorMetrics(instruments),
    ...createRunMetrics(instruments),
    ...createStateMetrics(instruments),
    ...createLeaderMetrics(instruments),
    ...createBranchMetrics(instruments),
    ...createOutboxMetrics(instruments),
    /** Adds the metrics of this process that Node has: memory, event loop, processor. */
    addProcess: () => collectDefaultMetrics({ register: registry }),
    /** Formats all metrics, and returns them with their content type. */
    async format(format: 'prometheus' | 'openmetrics'): Promise<{ type: string; text: string }> {
      const text = await registry.metrics()
      return format === 'prometheus'
        ? { type: Registry.PROMETHEUS_CONTENT_TYPE, text }
        : { type: Registry.OPENMETRICS_CONTENT_TYPE, text: toOpenMetrics(text) }
    },
  }
}

/**
 * Converts the text format of Prometheus, as prom-client prints it, to OpenMetrics: the family of a
 * counter has no `_total`. prom-client's own format renames the counters of a registry for good, so
 * that one registry can't be printed in both.
 */
function toOpenMetrics(text: string): string {
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
