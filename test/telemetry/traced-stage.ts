import { afterEach, beforeEach, vi } from 'vitest'
import { Place } from '../steps/cli.ts'
import { emulator, enterPlace, place } from '../steps/stage.ts'
import { OtlpReceiver, type ReceivedSpan } from './otlp-receiver.ts'

/** Receiver of each test. */
export let receiver: OtlpReceiver

/** Provides each test with a receiver, and a workspace whose commands send it traces. */
export function setTracedStage(): void {
  beforeEach(async () => {
    receiver = await OtlpReceiver.start()
    enterTraced()
  })
  afterEach(() => {
    vi.unstubAllEnvs()
    receiver.close()
  })
}

/** Enters a workspace whose commands send traces to the receiver. */
export function enterTraced(...settings: [more?: string, others?: { limits: string }]): void {
  enterPlace(new Place(emulator.url, ...settings))
  setVariables({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
  })
}

/** Sets variables of a command, and of this process, in which the SDK reads its own. */
export function setVariables(variables: Record<string, string>): void {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  place.env = { ...place.env, ...variables }
}

/** Finds the first span of a name that has ended. */
export function find(name: string): ReceivedSpan {
  const found = receiver.spans.find((span) => span.name === name)
  if (found === undefined) throw new Error(`no span ${name} in:\n${receiver.draw().join('\n')}`)
  return found
}
