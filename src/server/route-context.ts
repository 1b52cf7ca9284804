import type { Clock } from '../model/clock.ts'
import type { Controller } from './controller.ts'

/** What the routes need. */
export interface RouteContext {
  controller: Controller
  clock: Pick<Clock, 'now' | 'sleep'>
  /** Undefined or empty: the routes that need it are refused. */
  webhookSecret: string | undefined
  token: string | undefined
}
