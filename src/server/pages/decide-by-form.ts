import type { IncomingMessage } from 'node:http'
import { formatDecidedText } from '../../report/live/decided-text.ts'
import type { Answer } from '../answer.ts'
import { decisions } from '../controller.ts'
import type { RouteContext } from '../route-context.ts'
import { areEqual } from '../verify-webhook.ts'
import { answerMessage, redirect } from './answer-page.ts'
import { readForm } from './read-form.ts'
import type { Visit } from './visit.ts'

/**
 * Decides about a rollout as a form asks for. What may send more has to name the step that the
 * reader saw; a pause is safe at any step, and must not come too late.
 */
export async function decideByForm(
  incoming: IncomingMessage,
  id: string,
  name: string,
  { controller }: RouteContext,
  { sessions, formToken, isSecure }: Visit,
): Promise<Answer> {
  const verb = decisions.find((each) => each === name)
  if (verb === undefined) return answerMessage(404, 'Not found', 'There is no such decision.')
  const form = await readForm(incoming)
  const step = form?.get('step') ?? ''
  if (form === null || step === '')
    return answerMessage(400, 'Not understood', 'The form is not complete.')
  if (formToken !== null && !areEqual(form.get('token') ?? '', formToken))
    return answerMessage(403, 'Refused', 'The form is of another session.', {
      hint: 'Nothing was decided. Open the overview again.',
    })
  const { rollouts } = await controller.pages.overview()
  // Names in the path are compared as they were written into it.
  const open = rollouts.find(({ rollout }) => encodeURIComponent(rollout.id) === id)
  const decided = await controller.decide(
    verb,
    open?.rollout.id ?? id,
    verb === 'pause' ? undefined : step,
  )
  if (decided === null)
    return answerMessage(404, 'Not found', 'There is no such rollout: it has ended.')
  return redirect('/', {
    'Set-Cookie': sessions.keepNotice(formatDecidedText(decided), isSecure),
  })
}
