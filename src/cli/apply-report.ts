import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Dialogue } from '../operations/ports.ts'
import type { Executed } from '../operations/submit-plan.ts'
import { formatApplyMarkdown, type ApplyReport } from '../report/apply/markdown.ts'
import { formatUnrecorded } from '../report/apply/text.ts'
import { saveFile } from './save-file.ts'
import { findStatus } from './terminal/print-executed.ts'

/**
 * Runs an apply and writes its report as Markdown: before anything is sent, so that the report of a
 * killed apply is no earlier one, and at the end, also if the apply fails.
 *
 * @throws EdgewiseError `usage` if the file can't be written, then nothing is sent; else the error
 * of the apply
 */
export async function withApplyReport(
  path: string,
  dialogue: Dialogue,
  submit: (dialogue: Dialogue) => Promise<Executed>,
): Promise<Executed> {
  const report: ApplyReport = { plan: null, events: [], status: 'running', problem: null }
  saveFile(path, formatApplyMarkdown(report))
  const save = () => saveAfterwards(path, report, dialogue)
  try {
    const executed = await submit(recordInto(report, dialogue))
    const { unrecorded, unshared } = executed.result
    report.status = findStatus(executed)
    report.problem = unrecorded === null ? null : formatUnrecorded(unrecorded, unshared)
    save()
    return executed
  } catch (error) {
    report.status = 'failed'
    report.problem = describeError(error)
    save()
    throw error
  }
}

/** Returns the dialogue, which also records the plan and the events of the apply. */
function recordInto(report: ApplyReport, dialogue: Dialogue): Dialogue {
  return {
    ...dialogue,
    show: (subject) => {
      if (subject.kind === 'plan') report.plan = subject.plan
      dialogue.show(subject)
    },
    startProgress: async (extent) => {
      const progress = await dialogue.startProgress(extent)
      return {
        ...progress,
        report: (event, callsLeft) => {
          report.events.push(event)
          progress.report(event, callsLeft)
        },
      }
    },
  }
}

/** Writes the report after the apply, whose outcome a failure does not change. */
function saveAfterwards(path: string, report: ApplyReport, dialogue: Dialogue): void {
  try {
    saveFile(path, formatApplyMarkdown(report))
  } catch (error) {
    if (!(error instanceof EdgewiseError)) throw error
    dialogue.warn(`the report of the apply was not written: ${error.message}`)
  }
}

function describeError(error: unknown): string {
  if (!(error instanceof EdgewiseError)) return 'internal error; the log has more about it'
  return error.hint === '' ? error.message : `${error.message}\n${error.hint}`
}
