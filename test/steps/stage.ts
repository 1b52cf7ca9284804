import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { Emulator, EmulatorOptions } from '../../src/emulator/emulator.ts'
import { Place, resetEmulator, startService, type ManualTime } from './cli.ts'

/** Emulator of most command tests; every file has its own. */
export let emulator: Emulator
export let place: Place

const noon = Date.UTC(2026, 10, 20, 12)

/** Clock of a stage with manual time: it advances by waiting, or when a test sets it. */
export const time: ManualTime = { now: noon }
/** An origin that never answers. */
export const deadOrigin = '192.0.2.66'

let clock: ManualTime | null = null

/** Provides each test of a file with a reset emulator and its own workspace. */
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

/** Provides a stage whose service and commands use the clock {@link time}. */
export function setStageInTime(): void {
  setStage({ now: () => time.now, deadOrigins: [deadOrigin] }, time)
  beforeEach(() => {
    delete time.onSleep
    delete time.skew
  })
}

/** Provides each test of a file with its own workspace, and no service but the built-in one. */
export function setWorkspace(prepare: () => Place = () => new Place('emulator')): void {
  beforeAll(() => void (clock = null))
  beforeEach(() => void enterPlace(prepare()))
  afterEach(() => place.remove())
}

/** Switches to another workspace, which is removed at the end of the test. */
export function enterPlace(other: Place): Place {
  place = other
  place.time = clock
  return place
}

/** Runs a function in the next wait as long as a pause between waves. */
export function runInPause(what: () => Promise<void>): void {
  time.onSleep = async (_ms, wait) => {
    if (wait !== 'rollout') return
    delete time.onSleep
    await what()
  }
}
