import { listMoves } from '../manifest/moved-domains.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { listSome } from '../model/words.ts'
import { escapeInvisible } from '../report/text/escape-invisible.ts'
import type { Store } from '../state/store.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import type { Ports } from './ports.ts'

/** Lets a store see the state of renamed domains at their new names. */
export function useMoves({ config, desired }: MovingWorkspace, store: Store): void {
  store.useMoves(listMoves(config.moved, desired))
}

type MovingWorkspace = Pick<LoadedWorkspace, 'config' | 'desired'>

/**
 * Refuses moves that would lose state, and describes the others.
 *
 * @throws EdgewiseError `usage` if both names have state, `rollout-open` if an unfinished rollout
 *   has one of them
 */
export async function checkMoves(
  { config: { moved } }: MovingWorkspace,
  store: Store,
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
  await refuseInRollout(
    pending.flatMap(({ from, to }) => [from, to]),
    store,
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

async function refuseInRollout(domains: string[], store: Store): Promise<void> {
  if (domains.length === 0) return
  for (const { id, state, asked } of await store.listRollouts()) {
    const domain = domains.find((name) => Object.hasOwn(asked, name))
    if ((state !== 'open' && state !== 'taking-back') || domain === undefined) continue
    const rollout = escapeInvisible(id)
    throw new EdgewiseError(
      'rollout-open',
      `the rollout ${rollout} of a moved domain (${domain}) is unfinished`,
      state === 'open'
        ? `End it in its current state with "edgewise rollout abort ${rollout}".`
        : `Finish it with "edgewise rollback ${rollout}".`,
    )
  }
}

/** Records the pending moves. */
export async function recordMoves(
  store: Store,
  { outside, dialogue }: Pick<Ports, 'outside' | 'dialogue'>,
): Promise<void> {
  const { pending } = store.listMoves()
  if (pending.length === 0) return
  const what = listSome(pending.map(({ from, to }) => `${from} to ${to}`))
  await store.saveMoves(new Date(outside.clock.now()).toISOString(), `Move the state of ${what}`)
  dialogue.note(`Moved the state of ${what}.`)
}
