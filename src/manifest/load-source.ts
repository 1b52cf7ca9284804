import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { Diagnostic, DiagnosticCode } from '../model/problem.ts'
import { isWithin, explainFileError } from './find-files.ts'
import { createFileDiagnostic } from './finding.ts'
import type { SourceFile } from './yaml-file.ts'

const mostBytes = 5 * 1024 * 1024

/**
 * The text of a file of the workspace, or what is wrong with the file. `root` is a real path. Never
 * blocks on a pipe or device.
 */
export function loadSource(root: string, path: string): SourceFile | Diagnostic {
  const bytes = readBytes(root, path)
  if (!Buffer.isBuffer(bytes)) return bytes
  if (bytes.includes(0))
    return bad(
      path,
      'file-invalid',
      'expected a text file, got one with NUL bytes (UTF-16 perhaps). Save it as UTF-8.',
    )
  try {
    return { path, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return bad(
      path,
      'file-invalid',
      'expected UTF-8, got bytes that are not. Save the file as UTF-8.',
    )
  }
}

function readBytes(root: string, path: string): Buffer | Diagnostic {
  let file: number | undefined
  try {
    const target = realpathSync.native(join(root, path))
    if (!isWithin(root, target))
      return bad(
        path,
        'file-invalid',
        'expected a file of the workspace, got a link to one outside. Move that file into the workspace.',
      )
    file = openSync(target, constants.O_RDONLY | constants.O_NONBLOCK)
    const status = fstatSync(file)
    if (!status.isFile())
      return bad(
        path,
        'file-invalid',
        `expected a file, got a ${status.isDirectory() ? 'folder' : 'pipe, socket or device'}`,
      )
    if (status.size > mostBytes) {
      return bad(
        path,
        'file-invalid',
        `expected at most ${mostBytes / 1024 / 1024} MB, got ${(status.size / 1024 / 1024).toFixed(1)} MB. Split the file.`,
      )
    }
    return readFileSync(file)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    return bad(path, 'file-unreadable', `reading it failed: ${explainFileError(error)}`)
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

function bad(path: string, code: DiagnosticCode, detail: string): Diagnostic {
  return createFileDiagnostic(path, {
    code,
    summary: code === 'file-unreadable' ? "This file can't be read" : 'This file is no manifest',
    detail,
  })
}
