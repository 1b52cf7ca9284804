import type { Diagnostic } from '../../core/model/problem.ts'
import { createDiagnostic } from '../../manifest/manifests/finding.ts'
import type { CheckedException } from './load-exceptions.ts'

/**
 * Lists the exceptions that have ended, name no policy, cover nothing or do not count yet.
 *
 * @param used numbers of the violations that each excepted
 * @param waiting those that cover a violation and do not count yet
 * @param judges tests whether all that a policy is for was judged, so that one without use has none
 */
export function listExceptionProblems(
  exceptions: CheckedException[],
  used: ReadonlyMap<CheckedException, number>,
  waiting: ReadonlySet<CheckedException>,
  judges: (policy: string) => boolean,
): Diagnostic[] {
  return exceptions.flatMap((each) => {
    const { policy, until } = each.exception
    if (each.isOver === 'unknown')
      return create(each, 'exception-unknown', 'error', `there is no policy "${policy}"`, '/policy')
    if (each.isOver === 'expired')
      return create(each, 'exception-expired', 'warning', `it ended with ${until}`, '/until')
    if (waiting.has(each))
      return create(
        each,
        'exception-waiting',
        'warning',
        `${each.waits}. It counts from the commit after the one that brings it: merge it first.`,
      )
    const isIdle = (used.get(each) ?? 0) === 0 && judges(policy)
    return isIdle
      ? create(each, 'exception-unused', 'warning', 'it covers no violation. Remove it.')
      : []
  })
}

const summaries = {
  'exception-unknown': 'An exception from an unknown policy',
  'exception-expired': 'An exception has ended',
  'exception-waiting': 'An exception does not count yet',
  'exception-unused': 'An exception is not used',
}

function create(
  { exception: { policy, document, pointer } }: CheckedException,
  code: keyof typeof summaries,
  severity: Diagnostic['severity'],
  detail: string,
  step = '',
): Diagnostic[] {
  const summary = summaries[code]
  const full = `exception from ${policy}: ${detail}`
  return [
    createDiagnostic(document, { code, severity, summary, detail: full, pointer: pointer + step }),
  ]
}
