import { isStream } from '../files/write-output.ts'
import { EdgewiseError, throwDefect } from '../core/model/edgewise-error.ts'
import type { Dialogue, EventListener, Ports } from '../operations/runtime/ports.ts'
import { type Executed, findStatus } from '../operations/submission/executed.ts'
import type { ApplyReport } from '../outlets/report/apply/markdown.ts'
import { formatUnrecorded } from '../outlets/report/apply/text.ts'
import type { RecordedState } from '../state/store/store.ts'
import type { ReportFile } from './save-file.ts'

/** Subject of a report of an apply. */
export interface ApplyRecord extends ApplyReport {
  /** Without the waves of a rollout. */
  atOnce: boolean
  /** Error that ended it; null if there is none, or a defect. */
  error: EdgewiseError | null
  /** Calls that the budget allowed at the last event; null if nothing was sent. */
  callsLeft: number | null
  /** State after the apply; null until then. */
  recorded: RecordedState | null
  /** Warnings of the dialogue. */
  warnings: string[]
}

/**
 * Runs an apply and writes its reports: before anything is sent, so that a killed apply
 * leaves no older report, and at the end, also if the apply fails. A pipe, device or socket gets
 * only the last report, since it could not be replaced.
 *
 * @param atOnce without the waves of a rollout
 * @throws EdgewiseError `usage` if a file can't be written, then nothing is sent; else the error of
 * the apply
 */
export async function withApplyReports(
  files: ReportFile<ApplyRecord>[],
  atOnce: boolean,
  dialogue: Dialogue,
  submit: (recorded: Omit<Ports, 'outside'>) => Promise<Executed>,
): Promise<Executed> {
  const record: ApplyRecord = {
    plan: null,
    events: [],
    status: 'running',
    problem: null,
    error: null,
    atOnce,
    callsLeft: null,
    recorded: null,
    warnings: [],
  }
  for (const file of files) if (!isStream(file.output.path)) await file.save(record)
  try {
    const executed = await submit({
      dialogue: recordInto(record, dialogue),
      listeners: [keepEvents(record)],
    })
    const { unrecorded, unshared, recorded } = executed.result
    record.status = findStatus(executed)
    record.problem = unrecorded === null ? null : formatUnrecorded(unrecorded, unshared)
    record.recorded = recorded
    return executed
  } catch (error) {
    record.status = 'failed'
    record.problem = describeError(error)
    record.error = error instanceof EdgewiseError ? error : null
    throw error
  } finally {
    for (const file of files) await saveAfterwards(file, record, dialogue)
  }
}

/** Creates the listener that records the events of the apply. */
function keepEvents(record: ApplyRecord): EventListener {
  return (event, callsLeft) => {
    record.events.push(event)
    record.callsLeft = callsLeft ?? record.callsLeft
  }
}

/** Returns the dialogue, which also records the plan and the warnings. */
function recordInto(record: ApplyRecord, dialogue: Dialogue): Dialogue {
  return {
    ...dialogue,
    warn: (text) => {
      record.warnings.push(text)
      dialogue.warn(text)
    },
    show: (subject) => {
      if (subject.kind === 'plan' || subject.kind === 'compared') record.plan = subject.plan
      return dialogue.show(subject)
    },
  }
}

/** Writes a report after the apply, whose outcome a failure does not change. */
async function saveAfterwards(
  file: ReportFile<ApplyRecord>,
  record: ApplyRecord,
  dialogue: Dialogue,
): Promise<void> {
  try {
    await file.save(record)
  } catch (error) {
    throwDefect(error)
    dialogue.warn(`the ${file.what} was not written: ${error.message}`)
  }
}

function describeError(error: unknown): string {
  if (!(error instanceof EdgewiseError)) return 'internal error; the log has more about it'
  return error.hint === '' ? error.message : `${error.message}\n${error.hint}`
}
