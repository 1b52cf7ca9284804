import { throwDefect } from '../../core/model/edgewise-error.ts'
import type { OpenRollout } from '../../core/model/listed-rollout.ts'
import type { Identity } from '../../core/model/people/identity.ts'
import { actions, type Action } from '../../core/model/people/roles.ts'
import type { Rollout } from '../../core/model/rollout.ts'
import type { Rights } from '../people/rights.ts'

/** Explains why the reader of a page may not do something; null for what is allowed. */
export type Explain = (action: Action, rollout: string | null) => string | null

/** Finds what the reader of a page may not do: with these rollouts, and with all writes. */
export async function explainDecisions(
  rollouts: OpenRollout[],
  identity: Identity,
  rights: Pick<Rights, 'explain'>,
): Promise<Explain> {
  const found = new Map<string, string>()
  const add = async (action: Action, rollout: Rollout | null) => {
    const reason = await explain(rights, identity, action, rollout)
    if (reason !== null) found.set(`${action} ${rollout?.id ?? ''}`, reason)
  }
  for (const action of actions) {
    if (action === 'view') continue
    if (action.endsWith('-all')) await add(action, null)
    else for (const { rollout } of rollouts) await add(action, rollout)
  }
  return (action, rollout) => found.get(`${action} ${rollout ?? ''}`) ?? null
}

/** Explains a refusal; a branch that can't be read is one, too, and the page is still shown. */
async function explain(
  rights: Pick<Rights, 'explain'>,
  identity: Identity,
  action: Action,
  rollout: Rollout | null,
): Promise<string | null> {
  try {
    return await rights.explain(identity, action, rollout)
  } catch (error) {
    throwDefect(error)
    return `It is not known who may: ${error.message}.`
  }
}
