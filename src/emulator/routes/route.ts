import type { Call, CallCount } from '../entities/call.ts'
import type { Faults } from './answer-with-faults.ts'
import type { EmulatorAnswer, EmulatorRequest } from './exchange.ts'

export type Body = EmulatorAnswer['body']

/** A call of an endpoint, which adds its domains and items to `call`. */
export interface Incoming {
  request: EmulatorRequest
  call: Call
  faults: Faults
}

/** One endpoint of the service. */
export interface Route {
  /** Returns the body of the answer, or throws a Refusal. */
  answer(incoming: Incoming): Promise<Body> | Body
  /** Counts the calls of the route; absent for a route without a limit. */
  count?(now: number): CallCount
  /** Builds the further headers of its answers. */
  buildHeaders?(): Record<string, string>
}
