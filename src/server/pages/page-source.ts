import type { Overview } from '../../model/overview.ts'
import type { WaveEvent } from '../../report/live/rollout-page.ts'
import type { PageFrame } from '../../report/page/format-page.ts'

/**
 * What the pages show. Nothing of it takes a lock or changes anything; failures are
 * EdgewiseErrors.
 */
export interface PageSource {
  /** Describes the controller, and the rollouts as of about now. */
  overview(): Promise<Overview>
  /** Builds the page of the plan; several readers at the same time get one. */
  plan(): Promise<BuiltPage>
  /** Builds the plan as JSON, as that of the page. */
  planJson(): Promise<string>
  /** Builds the page of the history, as that of the plan. */
  history(): Promise<BuiltPage>
  /** Returns the page of the last drift check of this process; null if it did none. */
  drift(): BuiltPage | null
  /** Lists the events of the waves of a rollout that this process has seen, first to last. */
  listEvents(rollout: string): WaveEvent[]
}

/** A page that was built. */
export interface BuiltPage {
  /** Formats it with what a server adds. */
  format(frame: PageFrame): string
  /** ISO 8601. */
  at: string
  commit: string | null
  /** Revision of what it was built from. */
  revision: string
}
