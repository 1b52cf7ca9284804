import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest'
import { Pages } from './open.ts'

/**
 * Gives the tests of a file a browser, and checks after each that no page did what none may: a
 * message on the console, an error, a dialog, or any request beside the file.
 */
export function usePages(): Pages {
  const pages = new Pages()
  beforeAll(() => pages.start(inject('chromium')))
  afterEach(async () => {
    await pages.closeTabs()
    expect(pages.faults.splice(0)).toEqual([])
  })
  afterAll(() => pages.stop())
  return pages
}
