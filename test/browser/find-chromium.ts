import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of the browser. */
    chromium: string
  }
}

const programs = [
  'chromium',
  'chromium-browser',
  'chromium-headless-shell',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
]
const usualFolders = ['/usr/bin', '/usr/local/bin', '/snap/bin', '/opt/google/chrome']
const usualPaths = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]
const windowsFolders = ['PROGRAMFILES', 'PROGRAMFILES(X86)', 'LOCALAPPDATA']

/** Provides the tests with the path of the browser, before the first of them. */
export default function provideChromium(project: TestProject): void {
  project.provide('chromium', findChromium(process.env, isProgram))
}

/**
 * Finds Chromium or Chrome: the one of CHROME_PATH alone if it is set, else of the path, else
 * where systems have it.
 *
 * @throws Error if there is none: tests that try nothing must not pass
 */
export function findChromium(
  env: Record<string, string | undefined>,
  exists: (path: string) => boolean,
): string {
  const given = env['CHROME_PATH'] ?? ''
  if (given !== '') {
    if (exists(given)) return given
    throw new Error(`CHROME_PATH is "${given}", which is no program.`)
  }
  const folders = [...(env['PATH'] ?? '').split(delimiter).filter(Boolean), ...usualFolders]
  const windows = windowsFolders.flatMap((name) => env[name] ?? [])
  const found = [
    ...programs.flatMap((program) => folders.map((folder) => join(folder, program))),
    ...usualPaths,
    ...windows.map((folder) => join(folder, 'Google', 'Chrome', 'Application', 'chrome.exe')),
  ].find(exists)
  if (found !== undefined) return found
  throw new Error(
    'The tests of the page need a browser: install Chromium (Debian: ' +
      '"apt-get install chromium-headless-shell fonts-liberation") or Chrome, or set CHROME_PATH.',
  )
}

/** Reports whether a file can be run. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return false
  }
}
