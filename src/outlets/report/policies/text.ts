import { pluralize } from '../../../core/model/text/words.ts'
import type { ListedException, ListedPolicy, PolicyReport } from '../../../core/policy/report.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import type { Paint } from '../text/paint.ts'

/** Formats the policies of a workspace, then its exceptions: two lines each. */
export function formatPolicies({ policies, exceptions }: PolicyReport, paint: Paint): string {
  if (policies.length + exceptions.length === 0)
    return 'There is no policy: no file matches "policies" of edgewise.yaml.\n'
  return [
    ...policies.map((policy) => formatPolicy(policy, paint)),
    ...(exceptions.length === 0 ? [] : [`\n${paint.bold('Exceptions')}\n`]),
    ...exceptions.map((exception) => formatException(exception, paint)),
  ].join('')
}

function formatPolicy(policy: ListedPolicy, paint: Paint): string {
  const { name, level, on, file, line, column, judged, violations, excepted } = policy
  const covers =
    on === 'domain' || on === 'request'
      ? pluralize(judged, on)
      : on === 'plan'
        ? 'each plan'
        : `each ${on} of a plan`
  const counts = [
    ...(violations === 0 ? [] : [paint.red(pluralize(violations, 'violation'))]),
    ...(excepted === 0 ? [] : [paint.yellow(`${excepted} excepted`)]),
  ]
  const facts = [level, `covers ${covers}`, ...counts].join(' · ')
  return (
    `${paint.bold(escapeInvisible(name))}  ${facts}\n` +
    `  ${paint.dim(`${escapeInvisible(file)}:${line}:${column}`)}\n`
  )
}

const states: Record<ListedException['state'], string> = {
  counts: '',
  waiting: 'counts from the next commit',
  expired: 'has ended',
  unknown: 'of no policy',
}

function formatException(exception: ListedException, paint: Paint): string {
  const { policy, state, until, daysLeft, used, reason, by, file, line, column } = exception
  const isOpen = state === 'counts' || state === 'waiting'
  const parts = [
    ...(state === 'counts' ? [] : [paint.yellow(states[state])]),
    `until ${until}`,
    ...(isOpen ? [`${pluralize(daysLeft, 'day')} left`] : []),
    ...(state === 'counts' ? [used === 0 ? 'not used' : `excepts ${used}`] : []),
    ...listScope(exception),
  ]
  const accepted = by === null ? '' : ` (${by})`
  return (
    `${paint.bold(escapeInvisible(policy))}  ${parts.join(' · ')}\n` +
    `  ${escapeInvisible(`${reason}${accepted}`)}  ` +
    `${paint.dim(`${escapeInvisible(file)}:${line}:${column}`)}\n`
  )
}

function listScope({ domains, items }: ListedException): string[] {
  return [domains ?? [], items ?? []].flatMap((names) =>
    names.length === 0 ? [] : [escapeInvisible(names.join(', '))],
  )
}
