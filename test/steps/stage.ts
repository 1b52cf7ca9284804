import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { Emulator, EmulatorOptions } from '../../src/emulator/emulator.ts'
import { Place, resetEmulator, startService, type ManualTime } from './cli.ts'

/** What most tests of commands play on; every file has its own. */
export let emulator: Emulator
export let place: Place

const noon = Date.UTC(2026, 10, 20, 12)

/** What the clock of a stage in time says: only waiting, and a test that sets it, moves it. */
export const time: ManualTime = { now: noon }
/** An origin that answers nobody, on a stage in time. */
export const deadOrigin = '192.0.2.66'

let clock: ManualTime | null = null

/**
 * Gives each test of a file a service that has forgotten everything, and a workspace of its own.
 */
export function setStage(
  options: Partial<EmulatorOptions> = {},
  withClock: ManualTime | null = null,
): void {
  beforeAll(async () => {
    clock = withClock
    time.now = noon
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
  setStage({ now: () => time.now, deadOrigins: [deadOrigin] }, time)
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

/** Does something in the next wait of a rollout. */
export function runInPause(what: () => Promise<void>): void {
  time.onSleep = async (_ms, wait) => {
    if (wait !== 'rollout') return
    delete time.onSleep
    await what()
  }
}
