import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain } from '../model/item.ts'
import type { Plan } from '../model/plan.ts'
import { findCurrentWave, type Rollout } from '../model/rollout.ts'
import { narrowSnapshot } from '../plan/selection.ts'
import { findDomainsOnHold, findConflicts } from '../rollout/conflicts.ts'
import { escapeInvisible } from '../report/text/escape-invisible.ts'
import type { Store } from '../state/store.ts'
import { hashDesired } from './hash-desired.ts'
import type { LoadedWorkspace } from './load-workspace.ts'

/** How a plan meets rollouts. */
export interface WaveRequest {
  /** Let it out in waves; else all of it goes out at once, and nobody looks after it. */
  waves: boolean
  /** All at once may also be the end of a rollout that is open: the same is asked for. */
  finishes?: boolean
  supersede?: boolean
  retryHeld?: boolean
}

/** The rollouts that count for a plan: one that is to be ended has no waves to go on with. */
export function excludeSuperseded(
  rollouts: Rollout[],
  { supersede = false }: { supersede?: boolean | undefined },
): Rollout[] {
  return supersede ? rollouts.filter(({ state }) => state !== 'open') : rollouts
}

/**
 * The open rollout that a plan goes on with, the rollouts that are over once it is carried out, and
 * those that hold less then.
 *
 * @throws EdgewiseError `rollout-open` when the plan touches domains of one that is open, and
 * nobody said that it may
 */
export async function decideRollouts(
  workspace: LoadedWorkspace,
  store: Store,
  plan: Plan,
  { waves, finishes = false, supersede = false, retryHeld = false }: WaveRequest,
): Promise<{ continued: Rollout | null; ended: string[]; kept: Rollout[] }> {
  const rollouts = await store.listRollouts()
  const asked = hashDesired(workspace)
  const domains = new Set(plan.changes.map(({ domain }) => domain))
  const { continued, conflicting } = findConflicts(domains, plan.basis, rollouts, asked)
  const own = continued !== null && (waves ? !supersede : finishes || domains.size === 0)
  const obstacles = [...conflicting, ...(continued === null || own ? [] : [continued])]
  if (obstacles.length > 0 && !supersede) throw open(obstacles)
  const holding = holdingStill(rollouts, asked, retryHeld ? plan : null)
  const idle = rollouts.filter(({ id, state }) => state !== 'open' && !holding.has(id))
  const finished = own && !waves && domains.size > 0 ? [continued] : []
  return {
    continued: own && waves ? continued : null,
    ended: [...obstacles, ...finished, ...idle].map(({ id }) => id),
    kept: [...holding.values()].filter(
      ({ id, held }) => held.length < (rollouts.find((each) => each.id === id)?.held.length ?? 0),
    ),
  }
}

/** By id the rollouts that still hold something, without what a plan tries again. */
function holdingStill(
  rollouts: Rollout[],
  asked: (domain: Domain) => string,
  retried: Plan | null,
): Map<string, Rollout> {
  const held = findDomainsOnHold(rollouts, asked)
  const tries =
    retried === null
      ? new Map()
      : narrowSnapshot(
          new Map([...held.keys()].map((domain) => [domain, new Map()])),
          retried.basis,
        )
  return new Map(
    rollouts.flatMap((rollout): [string, Rollout][] => {
      if (!rollout.held.some((domain) => held.get(domain) === rollout && !tries.has(domain)))
        return []
      return [
        [rollout.id, { ...rollout, held: rollout.held.filter((domain) => !tries.has(domain)) }],
      ]
    }),
  )
}

function open(rollouts: Rollout[]): EdgewiseError {
  const said = rollouts.map((rollout) => {
    const by = rollout.author === null ? '' : ` by ${escapeInvisible(rollout.author)}`
    return `rollout ${escapeInvisible(rollout.id)}${by} is open at wave ${(findCurrentWave(rollout) ?? 0) + 1} of ${rollout.waves.length}`
  })
  return new EdgewiseError(
    'rollout-open',
    `${said.join(', ')}, and the plan touches its domains; nothing was applied`,
    'It goes on with "edgewise apply" of all that it began with and no other changes. --supersede ends it where it is; --target chooses other domains.',
  )
}
