import { createUnwrittenError } from '../../files/explain-failure.ts'
import { formatJson } from '../../core/model/json.ts'
import { join } from 'node:path'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { pluralize } from '../../core/model/text/words.ts'
import { exists } from '../../files/look.ts'
import { writeFiles } from '../../files/write-files.ts'
import { recordTests } from '../../operations/testing/record-tests.ts'
import { buildTestJson } from '../../outlets/report/tests/json.ts'
import { exitCodes } from '../exit-codes.ts'
import type { CommandContext } from '../io.ts'
import { loadFile } from '../load-file.ts'
import { openWorkspace, refuseInvalidManifests } from '../open.ts'

/** `edgewise test --record`: writes tests of what traces say today; asks before it replaces one. */
export async function record(context: CommandContext, urls: string[]): Promise<number> {
  const { io, options } = context
  const workspace = openWorkspace(context, 'none')
  refuseInvalidManifests(context, workspace)
  const tests = await recordTests(workspace, urls, io)
  const { root } = workspace
  const files = tests.map(({ path, text }) => {
    const target = join(root, path)
    return { path: target, text, before: exists(target) ? loadFile(target, path, '', root) : null }
  })
  const existing = tests.filter((_, i) => files[i]?.before !== null).map(({ path }) => path)
  if (existing.length > 0 && options.yes !== true) {
    if (io.ask === null)
      throw new EdgewiseError(
        'usage',
        `${existing.join(', ')} exists already; nothing was written`,
        'Pass --yes to replace it, or move it away.',
      )
    if (!(await io.ask(`Replace ${existing.join(', ')}?`))) return exitCodes.failed
  }
  const failure = writeFiles(root, files, io.machine.processName)
  if (failure !== null) throw createUnwrittenError(failure.path, failure.code)
  const recorded = tests.map(({ path, domain, requests, answers, unknown }) => {
    return { file: path, domain, requests, answers, unknown }
  })
  if (options.json === true)
    io.out(formatJson(buildTestJson({ results: [], mutations: null }, recorded)))
  else
    for (const { file, requests, answers, unknown } of recorded)
      io.out(
        `wrote ${file}: ${pluralize(requests, 'request')}, ${pluralize(answers, 'answer')}` +
          `${unknown === 0 ? '' : `; ${unknown} unknown ones are left out`}\n`,
      )
  return exitCodes.done
}
