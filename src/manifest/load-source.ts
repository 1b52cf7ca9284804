import { constants, realpathSync } from 'node:fs'
import { join, sep } from 'node:path'
import { isFault, loadBounded } from '../files/load-bounded.ts'
import type { Diagnostic, DiagnosticCode } from '../model/problem.ts'
import { isWithin, explainFileError } from './find-files.ts'
import { createFileDiagnostic } from './finding.ts'
import type { SourceFile } from './yaml-file.ts'

const maxBytes = 5 * 1024 * 1024
/** Gets the bytes of each small file until they are decoded. */
const scratch = Buffer.allocUnsafeSlow(16 * 1024)
const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Real paths of folders within a workspace, by their paths relative to its root; null for others.
 * Kept for one run only, since folders may be replaced.
 */
export type RealFolders = Map<string, string | null>

/**
 * Loads the text of a file of the workspace, or a diagnostic. Never blocks on a pipe or device.
 *
 * @param root a real path
 * @param folders shared by the files of a run; filled here
 */
export function loadSource(
  root: string,
  path: string,
  folders: RealFolders = new Map(),
): SourceFile | Diagnostic {
  const bytes = loadDirectly(root, path, folders) ?? loadBytes(root, path)
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

/** Loads a file that is no link. Null for any other, for which `loadBytes` has the reason. */
function loadDirectly(root: string, path: string, folders: RealFolders): Buffer | null {
  // Windows can't refuse links.
  if (constants.O_NOFOLLOW === undefined) return null
  const start = path.lastIndexOf('/') + 1
  const folder = path.slice(0, start)
  let real = folders.get(folder)
  if (real === undefined) folders.set(folder, (real = resolveFolder(root, folder)))
  if (real === null) return null
  const loaded = loadBounded(real + sep + path.slice(start), maxBytes, 'refuse', scratch)
  return isFault(loaded) ? null : loaded
}

/** Returns the real path of a folder; null if it can't be found or is outside the root. */
function resolveFolder(root: string, folder: string): string | null {
  try {
    const real = realpathSync.native(join(root, folder))
    return isWithin(root, real) ? real : null
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null
    throw error
  }
}

function loadBytes(root: string, path: string): Buffer | Diagnostic {
  let target: string
  try {
    target = realpathSync.native(join(root, path))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    return createUnreadable(path, String(error.code))
  }
  if (!isWithin(root, target))
    return createDiagnostic(
      path,
      'file-invalid',
      'expected a file of the workspace, got a link to one outside. Move that file into ' +
        'the workspace.',
    )
  const loaded = loadBounded(target, maxBytes)
  if (!isFault(loaded)) return loaded
  if (loaded.kind === 'unreadable') return createUnreadable(path, loaded.code)
  const advice = loaded.kind === 'too-large' ? '. Split the file.' : ''
  return createDiagnostic(path, 'file-invalid', `${loaded.reason}${advice}`)
}

function createUnreadable(path: string, code: string): Diagnostic {
  return createDiagnostic(path, 'file-unreadable', `reading it failed: ${explainFileError(code)}`)
}

function createDiagnostic(path: string, code: DiagnosticCode, detail: string): Diagnostic {
  return createFileDiagnostic(path, {
    code,
    summary: code === 'file-unreadable' ? "This file can't be read" : 'Not a manifest',
    detail,
  })
}
