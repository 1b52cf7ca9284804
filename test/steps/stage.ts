import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { Emulator } from '../../src/emulator/emulator.ts'
import { Place, reset, service } from './cli.ts'

/** What most tests of commands play on; every file has its own. */
export let emulator: Emulator
export let place: Place

/** Gives each test of a file a service that has forgotten everything, and a workspace of its own. */
export function setStage(): void {
  beforeAll(async () => {
    emulator = await service()
  })
  afterAll(() => emulator.close())
  beforeEach(async () => {
    await reset(emulator)
    place = new Place(emulator.url)
  })
  afterEach(() => place.remove())
}
