import type { Diagnostic, DiagnosticCode, Place } from '../model/problem.ts'
import type { YamlDocument } from './yaml-file.ts'
import { findPlace } from './yaml-place.ts'

/** What is wrong, without its place. */
export interface Fault {
  code: DiagnosticCode
  severity?: 'error' | 'warning'
  summary: string
  detail: string
  domain?: string
  item?: string
  related?: (Place & { message: string })[]
}

/**
 * What is wrong at a pointer of a document. `key`: the key itself is wrong, not what stands under
 * it.
 */
export interface Finding extends Fault {
  pointer: string
  part?: 'key'
}

/** A fault with its place in a document. */
export function createDiagnostic(document: YamlDocument, finding: Finding): Diagnostic {
  const { pointer, part, ...fault } = finding
  return {
    severity: 'error',
    ...fault,
    ...findPlace(document, pointer, part),
    document: document.index,
    pointer,
  }
}

/** A fault of a whole file. */
export function createFileDiagnostic(file: string, fault: Fault): Diagnostic {
  return {
    severity: 'error',
    ...fault,
    file,
    line: 1,
    column: 1,
    endLine: 1,
    endColumn: 1,
    document: 0,
  }
}
