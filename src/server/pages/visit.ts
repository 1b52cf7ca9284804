import type { FormToken } from '../../report/live/rollout.ts'
import type { Sessions } from './sessions.ts'

/** A request of somebody who may see the pages. */
export interface Visit {
  sessions: Sessions
  /** What forms have to carry; null for a client with the token itself. */
  formToken: FormToken
  isSecure: boolean
  cookies: string
}
