import type { SaltFile } from '../../generated/state-types.ts'
import { saltFile } from '../../generated/state-validators.ts'
import { parseFile } from './parse-file.ts'

/** Formats the file with the salt of fingerprints. */
export function formatSalt(salt: string): string {
  const file: SaltFile = { format: saltFile.name, salt }
  return `${JSON.stringify(file)}\n`
}

/**
 * Parses the file with the salt of fingerprints.
 *
 * @throws EdgewiseError `record-damaged`
 */
export function parseSalt(place: string, text: string): string {
  return parseFile(place, text, 'salt', saltFile).salt
}
