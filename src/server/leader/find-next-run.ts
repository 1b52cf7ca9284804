import { Cron } from 'croner'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'

/**
 * Finds when a schedule runs next, ms since 1970.
 *
 * @param cron expression of five fields, in UTC
 * @returns null if it never does again
 * @throws EdgewiseError `invalid` if the expression has no meaning
 */
export function findNextRun(cron: string, nowMs: number): number | null {
  try {
    const schedule = new Cron(cron, { mode: '5-part', timezone: 'UTC', paused: true })
    return schedule.nextRun(new Date(nowMs))?.getTime() ?? null
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw new EdgewiseError(
      'invalid',
      `"serve.drift.schedule" in edgewise.yaml is not a schedule: ${error.message}`,
      'Write five fields, for example "*/30 * * * *" for each half hour (UTC).',
    )
  }
}
