import type { Configured, Desired } from '../runtime/parts.ts'
import { listMoves } from '../../manifest/workspace-file/moved-domains.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { isUnfinished, type Rollout } from '../../core/model/rollout.ts'
import { listSome } from '../../core/model/text/words.ts'
import { escapeInvisible } from '../../outlets/report/text/escape-invisible.ts'
import type { StateReader, RolloutStore, StateWriter } from '../../state/store/store.ts'
import type { Ports } from '../runtime/ports.ts'

/** Lets a store see the state of renamed domains at their new names. */
export function useMoves({ config, desired }: MovingWorkspace, store: StateReader): void {
  store.useMoves(listMoves(config.moved, desired))
}

type MovingWorkspace = Configured & Desired

/**
 * Refuses moves that would lose state, and describes the others.
 *
 * @throws EdgewiseError `usage` if both names have state, `rollout-open` if an unfinished rollout
 *   has one of them
 */
export async function checkMoves(
  { config: { moved } }: MovingWorkspace,
  store: StateReader & RolloutStore,
): Promise<string[]> {
  if (moved.length === 0) return []
  const { pending, conflicting } = store.listMoves()
  const [first] = conflicting
  if (first !== undefined)
    throw new EdgewiseError(
      'usage',
      `both ${first.from} and ${first.to} have state, so nothing can be handed over`,
      `If ${first.to} has the configuration of ${first.from}, run "edgewise state forget ` +
        `${first.to}". If not, remove the entry under "moved" in edgewise.yaml.`,
    )
  if (pending.length > 0)
    refuseInRollout(
      await store.listRollouts(),
      pending.flatMap(({ from, to }) => [from, to]),
    )
  const isPending = new Set(pending.map(({ from }) => from))
  const done = moved.filter(({ from }) => !isPending.has(from)).map(({ from }) => from)
  return [
    ...pending.map(
      ({ from, to }) =>
        `${from} was renamed to ${to}: its state is handed over, and the next apply records that.`,
    ),
    ...(done.length === 0
      ? []
      : [
          `There is no state of ${listSome(done)} to hand over (any more): remove the entry ` +
            'under "moved" in edgewise.yaml.',
        ]),
  ]
}

/**
 * Refuses to move domains of an unfinished rollout.
 *
 * @throws EdgewiseError `rollout-open`
 */
export function refuseInRollout(rollouts: Rollout[], domains: string[]): void {
  for (const { id, state, desiredHashes } of rollouts.filter(isUnfinished)) {
    const domain = domains.find((name) => Object.hasOwn(desiredHashes, name))
    if (domain === undefined) continue
    const rollout = escapeInvisible(id)
    throw new EdgewiseError(
      'rollout-open',
      `the rollout ${rollout} of ${domain} is unfinished; nothing was moved`,
      state === 'open'
        ? 'Finish it with "edgewise apply", or end it in its current state with ' +
            `"edgewise rollout abort ${rollout}".`
        : `Finish it with "edgewise rollback ${rollout}".`,
    )
  }
}

/** Records the pending moves. */
export async function recordMoves(
  store: StateReader & StateWriter,
  { outside, dialogue }: Ports,
): Promise<void> {
  const { pending } = store.listMoves()
  if (pending.length === 0) return
  const what = listSome(pending.map(({ from, to }) => `${from} to ${to}`))
  await store.saveMoves(new Date(outside.clock.now()).toISOString(), `Move the state of ${what}`)
  dialogue.note(`Moved the state of ${what}.`)
}
