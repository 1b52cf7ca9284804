import type { Outside } from '../operations/runtime/parts.ts'
import type { ReportOptions } from './commands/options.ts'
import type { About, ReportCommand, Subjects } from './report-formats/subjects.ts'
import { createOutput, saveOutput, type ReportFile } from './save-file.ts'

/** Creates the files of the reports of a command. */
export function createReports<C extends ReportCommand>(
  name: C,
  { report, served = false }: ReportOptions,
  workspace: About['workspace'],
  outside: Outside & { cwd: string },
): ReportFile<Subjects[C]>[] {
  return report.map(({ path, format }) => {
    const output = createOutput(path, workspace, outside)
    const save = async (subject: Subjects[C]) => {
      const render = (await format.load()).renderers[name]
      if (render === undefined) throw new Error(`expected a format of ${name} for ${path}`)
      await saveOutput(output, await render(subject, { workspace, outside, served }))
    }
    return { what: `report ${path}`, output, save }
  })
}
