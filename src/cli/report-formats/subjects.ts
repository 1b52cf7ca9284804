import type { Tested } from '../../core/tests/results.ts'
import type { DriftAndEffects } from '../../operations/drift.ts'
import type { History } from '../../operations/history/past-applies.ts'
import type { FoundDrift } from '../../operations/observation/find-drift.ts'
import type { Planned } from '../../operations/plan.ts'
import type {
  Outside,
  Checkout,
  Findings,
  ItemPlaces,
  Settings,
} from '../../operations/runtime/parts.ts'
import type { Shown } from '../../operations/show.ts'
import type { ShownOutliers } from '../../outlets/report/list/outliers.ts'
import type { ApplyRecord } from '../apply-report.ts'

/** Subjects of the reports of each command. */
export interface Subjects {
  /** `notes`: about the state, without the warnings of the plan. */
  plan: Pick<Planned, 'plan' | 'effects' | 'witnesses' | 'sides' | 'notes'>
  apply: ApplyRecord
  /** `at`: ms since 1970. */
  drift: {
    found: FoundDrift & Partial<Pick<DriftAndEffects, 'effects'>>
    at: number
    target: string[]
    items: string[]
    commit: string | null
  }
  history: History
  show: Pick<Shown, 'sheet' | 'told'>
  list: { shown: ShownOutliers; target: string[] }
  test: Tested
}

/** Command with reports. */
export type ReportCommand = keyof Subjects

/** The workspace of a report, and the outside world. */
export interface About {
  workspace: Settings & Findings & ItemPlaces & Checkout
  outside: Outside
  /** Whether a page is for a server, which adds its navigation bar. */
  served: boolean
}

/** Renders a report. */
export type Render<Subject> = (subject: Subject, about: About) => Promise<string>

/** Renderers of a format, by command. */
export type Renderers = { [C in ReportCommand]?: Render<Subjects[C]> }
