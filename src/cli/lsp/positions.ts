import { pathToFileURL, fileURLToPath } from 'node:url'
import { isAbsolute, relative, sep } from 'node:path'
import type { Range } from 'vscode-languageserver/node'
import type { Place } from '../../core/model/problem.ts'

/** Converts a place to a range of the protocol. Both count UTF-16 units; places begin at 1. */
export function toRange({ line, column, endLine, endColumn }: Omit<Place, 'file'>): Range {
  return {
    start: { line: line - 1, character: column - 1 },
    end: { line: endLine - 1, character: endColumn - 1 },
  }
}

/** Converts the address of a file to its path; null for a document that is no file. */
export function toPath(uri: string): string | null {
  try {
    return uri.startsWith('file:') ? fileURLToPath(uri) : null
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}

/** Converts a path to the address of a file. */
export function toUri(path: string): string {
  return pathToFileURL(path).href
}

/** Returns the path of a file below a root, with `/`; null for a file elsewhere. */
export function toWorkspacePath(root: string, path: string): string | null {
  const within = relative(root, path)
  if (within === '' || isAbsolute(within) || within.split(sep)[0] === '..') return null
  return within.split(sep).join('/')
}
