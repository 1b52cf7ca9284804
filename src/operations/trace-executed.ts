import type { OutcomeCounts } from '../model/outcome.ts'
import type { Plan } from '../model/plan.ts'
import type { Tracer } from '../model/tracing.ts'

/** What is traced of an executed plan. */
interface Traced {
  plan: Plan
  result: OutcomeCounts
  status: 'done' | 'not-begun' | 'incomplete' | 'waiting'
  finished?: { apply: string }
}

/** Adds the outcome of an executed plan to the trace, without messages: they may quote values. */
export function traceExecuted(
  { plan, result, status, finished }: Traced,
  tracer: Tracer | undefined,
): void {
  if (tracer === undefined) return
  const { commit } = plan.basis
  tracer.root().set({
    'edgewise.status': status,
    'edgewise.changes': plan.changes.length,
    'edgewise.writes': plan.writes.length,
    'edgewise.writes.confirmed': result.confirmed,
    'edgewise.writes.refused': result.refused,
    'edgewise.writes.in_doubt': result.inDoubt,
    'edgewise.writes.not_sent': result.notSent,
    ...(finished === undefined ? {} : { 'edgewise.apply': finished.apply }),
    ...(commit === null ? {} : { 'edgewise.commit': commit }),
  })
  if (status === 'incomplete' || status === 'not-begun') tracer.root().fail(status)
}
