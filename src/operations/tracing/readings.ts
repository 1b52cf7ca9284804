import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { JsonObject } from '../../core/model/json.ts'
import type { Preset, Settings } from '../../core/trace/readings.ts'
import { BadSetting, buildSettings } from '../../core/trace/settings.ts'
import type { Configured } from '../runtime/parts.ts'

/** Answers of readings, over those of the workspace file. */
export interface Assumptions {
  /** By default that of the workspace file. */
  preset?: Preset
  assume?: JsonObject
}

/**
 * Settles readings by the workspace file and by what a command gives.
 *
 * @throws EdgewiseError `usage` for a reading or an answer that there is none of
 */
export function settleReadings(
  { config }: Configured,
  { preset = config.trace.preset, assume = {} }: Assumptions,
): Settings {
  const answers = { ...(config.trace.assume as JsonObject), ...assume }
  try {
    return buildSettings({ preset, assume: answers, timezone: config.service.timezone })
  } catch (error) {
    if (!(error instanceof BadSetting)) throw error
    const hint = '"edgewise explain readings" lists readings and answers.'
    throw new EdgewiseError('usage', `--assume: ${error.message}`, hint)
  }
}
