import type { Settings, Outside } from '../operations/runtime/parts.ts'
import { formatApplyMetrics } from '../outlets/metrics/apply-metrics.ts'
import type { ApplyRecord } from './apply-report.ts'
import { createOutput, saveOutput, type ReportFile } from './save-file.ts'

/**
 * Creates the file with metrics of an apply, which a collector may read at any time: it is replaced
 * as a whole. The returned outside notices how long the apply waits for its lock.
 */
export function createMetricsFile(
  path: string,
  { config, root }: Settings,
  outside: Outside & { cwd: string },
): { file: ReportFile<ApplyRecord>; outside: Outside } {
  const output = createOutput(path, { root }, outside)
  const { clock } = outside
  const [startedAt, startMs] = [clock.now() / 1000, clock.monotonic()]
  const findAge = (ms: number) => (clock.monotonic() - ms) / 1000
  let [lockingMs, lockWait]: [number | null, number | null] = [null, null]
  const onPhase: Outside['onPhase'] = (phase) => {
    if (phase.name === 'locking') lockingMs = clock.monotonic()
    else if (lockingMs !== null) lockWait ??= findAge(lockingMs)
    outside.onPhase?.(phase)
  }
  const save: ReportFile<ApplyRecord>['save'] = async ({
    status,
    plan,
    events,
    callsLeft,
    recorded,
  }) => {
    const isOver = status !== 'running'
    const text = await formatApplyMetrics({
      workspace: config.id,
      account: config.service.account,
      state: status,
      startedAt,
      endedAt: isOver ? clock.now() / 1000 : null,
      duration: findAge(startMs),
      lockWait: lockWait ?? (lockingMs === null ? null : findAge(lockingMs)),
      plan,
      events,
      callsLeft,
      recorded,
    })
    await saveOutput(output, text)
  }
  return { file: { what: 'metrics file', output, save }, outside: { ...outside, onPhase } }
}
