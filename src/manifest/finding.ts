import type { Diagnostic, DiagnosticCode, Place } from '../model/problem.ts'
import type { DocumentPlace } from './yaml-file.ts'
import { findPlace } from './yaml-place.ts'

/** A problem without its place. */
export interface Fault {
  code: DiagnosticCode
  severity?: 'error' | 'warning'
  summary: string
  detail: string
  domain?: string
  item?: string
  related?: (Place & { message: string })[]
}

/** A problem at a pointer of a document. With `part: 'key'` the key is wrong, not its value. */
export interface Finding extends Fault {
  pointer: string
  part?: 'key'
}

/** Adds the place in the document to a finding. */
export function createDiagnostic(document: DocumentPlace, finding: Finding): Diagnostic {
  const { pointer, part, ...fault } = finding
  return {
    severity: 'error',
    ...fault,
    ...findPlace(document, pointer, part),
    document: document.index,
    pointer,
  }
}

/** Creates a diagnostic about a whole file, at 1:1. */
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
