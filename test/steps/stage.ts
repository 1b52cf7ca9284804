import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { Emulator, EmulatorOptions } from '../../src/emulator/emulator.ts'
import { Place, resetEmulator, startService, type ManualTime } from './cli.ts'

/** What most tests of commands play on; every file has its own. */
export let emulator: Emulator
export let place: Place

/** What the clock of a stage in time says: only waiting, and a test that sets it, moves it. */
export const time: ManualTime = { now: Date.UTC(2026, 10, 20, 12) }
/** An origin that answers nobody, on a stage in time. */
export const deadOrigin = '192.0.2.66'

let clock: ManualTime | null = null

/**
 * Gives each test of a file a service that has forgotten everything, and a workspace of its own.
 */
export function setStage(options: Partial<EmulatorOptions> = {}): void {
  beforeAll(async () => {
    emulator = await startService(options)
  })
  afterAll(() => emulator.close())
  beforeEach(async () => {
    await resetEmulator(emulator)
    enterPlace(new Place(emulator.url))
  })
  afterEach(() => place.remove())
}

/** A stage on which the service and the commands have the clock {@link time}. */
export function setStageInTime(): void {
  clock = time
  setStage({ now: () => time.now, deadOrigins: [deadOrigin] })
  beforeEach(() => {
    delete time.onSleep
  })
}

/** Goes on in another workspace; the one before is removed at the end of the test at the latest. */
export function enterPlace(other: Place): Place {
  place = other
  place.time = clock
  return place
}

/** Does something in the next wait that is as long as a pause between waves. */
export function runInPause(what: () => Promise<void>): void {
  time.onSleep = async (ms) => {
    if (ms < 60_000) return
    delete time.onSleep
    await what()
  }
}
