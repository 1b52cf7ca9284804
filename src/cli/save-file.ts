import { resolve } from 'node:path'
import { createUnwrittenError } from '../files/explain-failure.ts'
import { createLinkError } from '../files/find-link.ts'
import { writeOutput, type Output } from '../files/write-output.ts'
import type { Outside } from '../operations/runtime/parts.ts'
import { findCheckout } from '../state/git/find-repository.ts'

/** A file with a report. */
export interface ReportFile<Subject> {
  /** Name of the file in messages. */
  what: string
  output: Output
  /** @throws EdgewiseError `usage` if the file can't be written */
  save(subject: Subject): Promise<void>
}

/** Creates the output of a command for a path of its options. */
export function createOutput(
  path: string,
  { root }: { root: string },
  { cwd, machine }: Outside & { cwd: string },
): Output {
  return {
    path: resolve(cwd, path),
    checkout: findCheckout(root) ?? root,
    temporary: machine.processName,
  }
}

/**
 * Writes an output: a file completely or not at all, so that others may read it at any time; a
 * pipe, device or socket is written to.
 *
 * @throws EdgewiseError `usage` if it can't be written
 */
export async function saveOutput(output: Output, text: string): Promise<void> {
  const fault = await writeOutput(output, text)
  if (fault === null) return
  const { path } = output
  if ('link' in fault) throw createLinkError(path, fault.link)
  throw createUnwrittenError(path, fault.code)
}
