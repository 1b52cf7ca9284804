import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file system in memory, where the system has one. */
const memory = '/dev/shm'
const enough = 2 ** 30

/** Creates one temporary folder for all tests, in memory if possible, and removes it at the end. */
export default function makeTemporaryFolder(): () => void {
  const folder = suits(memory) ?? mkdtempSync(join(tmpdir(), 'edgewise-tests-'))
  process.env['TMPDIR'] = folder
  return () => rmSync(folder, { recursive: true, force: true })
}

/** Makes a folder in another one, or null where there is no room or no program may run. */
function suits(parent: string): string | null {
  let folder: string | null = null
  try {
    const { bavail, bsize } = statfsSync(parent)
    if (bavail * bsize < enough) return null
    folder = mkdtempSync(join(parent, 'edgewise-tests-'))
    writeFileSync(join(folder, 'try'), '#!/bin/sh\n', { mode: 0o755 })
    execFileSync(join(folder, 'try'))
    return folder
  } catch (error) {
    if (!(error instanceof Error)) throw error
    if (folder !== null) rmSync(folder, { recursive: true, force: true })
    return null
  }
}
