import type { Store } from '../../store/store.ts'
import type { QueryRules } from '../answer-statistics.ts'
import type { WriteRules } from '../write-config.ts'
import type { CallLimits } from './call-limits.ts'

/** What the extended routes work with. */
export interface ExtendedContext {
  store: Store
  rules: WriteRules & QueryRules & { deployMs?: number }
  limits: CallLimits
}
