import { loadBelow } from '../../files/load-below.ts'
import { isFault } from '../../files/load-bounded.ts'
import type { Diagnostic, DiagnosticCode } from '../../core/model/problem.ts'
import { explainFailure } from '../../files/explain-failure.ts'
import { createFileDiagnostic } from './finding.ts'
import type { SourceFile } from '../yaml/yaml-file.ts'

const maxBytes = 5 * 1024 * 1024
const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Loads the text of a file of the workspace, or a diagnostic. Never blocks on a pipe or device.
 *
 * @param root a real path
 * @param folders as for `loadBelow`
 */
export function loadSource(
  root: string,
  path: string,
  folders?: Map<string, boolean>,
): SourceFile | Diagnostic {
  const bytes = loadBytes(root, path, folders)
  if (!Buffer.isBuffer(bytes)) return bytes
  if (bytes.includes(0))
    return createDiagnostic(
      path,
      'file-invalid',
      'expected a text file, got one with NUL bytes (UTF-16 perhaps). Save it as UTF-8.',
    )
  try {
    return { path, text: decoder.decode(bytes) }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return createDiagnostic(
      path,
      'file-invalid',
      'expected UTF-8, got other bytes. Save the file as UTF-8.',
    )
  }
}

function loadBytes(
  root: string,
  path: string,
  folders: Map<string, boolean> | undefined,
): Buffer | Diagnostic {
  const loaded = loadBelow(root, path, maxBytes, folders)
  if (!isFault(loaded)) return loaded
  if (loaded.kind === 'unreadable')
    return createDiagnostic(
      path,
      'file-unreadable',
      `reading it failed: ${explainFailure(loaded.code) ?? loaded.code}`,
    )
  if (loaded.kind === 'outside')
    return createDiagnostic(
      path,
      'file-invalid',
      'expected a file of the workspace, got a link to one outside. Move that file into ' +
        'the workspace.',
    )
  const advice = loaded.kind === 'too-large' ? '. Split the file.' : ''
  return createDiagnostic(path, 'file-invalid', `${loaded.reason}${advice}`)
}

function createDiagnostic(path: string, code: DiagnosticCode, detail: string): Diagnostic {
  return createFileDiagnostic(path, {
    code,
    summary: code === 'file-unreadable' ? "This file can't be read" : 'Not a manifest',
    detail,
  })
}
