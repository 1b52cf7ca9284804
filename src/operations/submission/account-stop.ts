import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { describeStop } from '../../core/model/listed-rollout.ts'
import type { AccountStop } from '../../state/store/account-stop.ts'

/**
 * Refuses to send while the account is stopped.
 *
 * @throws EdgewiseError `stopped`
 */
export async function refuseStopped(accountStop: AccountStop): Promise<void> {
  const stop = await accountStop.load()
  if (stop !== null) throw new EdgewiseError('stopped', describeStop(stop), resumeHint)
}

/** Notes that an apply would be refused, since the account is stopped; none if it is not. */
export async function noteStop(accountStop: AccountStop): Promise<string[]> {
  const stop = await accountStop.load()
  return stop === null ? [] : [`apply will refuse this plan: ${describeStop(stop)}. ${resumeHint}`]
}

const resumeHint = '"edgewise rollout resume --all" lets all runners of the account send again.'
