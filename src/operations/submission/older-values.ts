import type { Configured, Desired, Checkout } from '../runtime/parts.ts'
import type { Applied } from '../../core/model/applied.ts'
import { nameChange, type Change } from '../../core/model/change.ts'
import { CancelledError, EdgewiseError } from '../../core/model/edgewise-error.ts'
import { groupBy } from '../../core/model/lists.ts'
import type { OlderChange, Plan } from '../../core/model/plan.ts'
import { describeTree, pickTree } from '../../core/model/source-tree.ts'
import { listSome, pluralize } from '../../core/model/text/words.ts'
import { escapeInvisible } from '../../outlets/report/text/escape-invisible.ts'
import type { Relation } from '../../state/git/source-tree.ts'
import type { RecordedItem, RecordedState, HistoryReader } from '../../state/store/store.ts'
import { hashDesired, hashValue } from './hash-desired.ts'
import type { Dialogue, ForeignRelease } from '../runtime/ports.ts'

/** A change of a value that the checked-out commit may not contain. */
interface Suspect {
  change: Change
  /** Apply that recorded the value. */
  apply: Applied
  relation: Relation | 'uncommitted'
  goesBack: boolean
}

const hint =
  'Bring the manifests up to date (git pull, merge or rebase), or pass --allow-older if that is ' +
  'meant.'

/** Cleared items follow another one; what a secret changes is known once it is compared. */
const notCompared: ReadonlySet<Change['reason']> = new Set(['cleared', 'secret-unknown'])

/**
 * Marks the changes of a plan that go back to older values, and warns of them. The recorded value
 * is newer if it was applied from a commit that the checked-out one does not contain, or from
 * uncommitted changes. The desired value is older if the checked-out commit is before the applied
 * one, or if the value was recorded before it.
 *
 * @param by who applies the plan; what its workspace, a foreign one, releases is judged elsewhere
 */
export async function markOlder(
  workspace: Configured & Desired & Checkout,
  store: HistoryReader,
  recorded: RecordedState,
  plan: Plan,
  by: { author: string; foreign: ForeignRelease | null },
): Promise<Plan> {
  const { author, foreign } = by
  const replaced = plan.changes.flatMap((change) => {
    const item = recorded.get(change.domain)?.get(change.item)
    const isJudged = foreign !== null && change.action === 'release'
    const isLeft = item === undefined || notCompared.has(change.reason) || isJudged
    return isLeft ? [] : [{ change, item }]
  })
  if (workspace.config.guards.order === 'off' || replaced.length === 0) return plan
  const applies = new Map((await store.listApplies()).map((apply) => [apply.id, apply]))
  // Nobody's work is undone where somebody tries changes before they are committed.
  const isOwn = (apply: Applied) => plan.basis.onTopOf !== undefined && apply.author === author
  const relate = createRelate(workspace, applies, isOwn)
  const relations = await relate(replaced.map(({ item }) => item.apply))
  const suspects = replaced.flatMap(({ change, item }) => {
    const apply = applies.get(item.apply)
    const relation = relations.get(item.apply)
    if (apply === undefined || relation === undefined) return []
    return [{ change, item, apply, relation, goesBack: relation === 'later' }]
  })
  await compareWithEarlier(suspects, workspace, store, relate)
  if (suspects.length === 0) return plan
  const { definite } = plan
  const marked = addMarks(plan, suspects)
  return definite === undefined ? marked : { ...marked, definite: addMarks(definite, suspects) }
}

type Relate = (applies: string[]) => Promise<Map<string, Suspect['relation']>>

/** Returns a function that relates applies whose trees the checked-out commit may not contain. */
function createRelate(
  workspace: Checkout,
  applies: ReadonlyMap<string, Applied>,
  isOwn: (apply: Applied) => boolean,
): Relate {
  return async (ids) => {
    const known = [...new Set(ids)].flatMap((id) => applies.get(id) ?? [])
    const relations = await workspace.relateCommits(known.flatMap(({ commit }) => commit ?? []))
    return new Map(
      known.flatMap((apply): [string, Suspect['relation']][] => {
        const { id, commit, onTopOf } = apply
        if (onTopOf !== undefined) return isOwn(apply) ? [] : [[id, 'uncommitted']]
        const relation = commit === null ? undefined : relations.get(commit)
        return relation === undefined || relation === 'contained' ? [] : [[id, relation]]
      }),
    )
  }
}

/** Compares desired values with earlier ones than the recorded, up to one of a contained commit. */
async function compareWithEarlier(
  suspects: (Suspect & { item: RecordedItem })[],
  workspace: Desired,
  store: HistoryReader,
  relate: Relate,
): Promise<void> {
  const { hashItem } = hashDesired(workspace)
  let open = suspects
    .filter(({ goesBack }) => !goesBack)
    .map((of) => ({ of, apply: of.item.apply }))
  const seen = new Set<string>()
  while (open.length > 0) {
    const ids = new Set(open.map(({ apply }) => apply))
    const intended = await store.loadIntended([...ids])
    const earlier = open.flatMap(({ of, apply }) => {
      const { domain, item } = of.change
      const known = intended.get(apply)?.get(domain)?.get(item)
      if (known === undefined) return []
      of.goesBack = hashValue(known.before ?? undefined) === hashItem(domain, item)
      return of.goesBack || known.before === null ? [] : [{ of, apply: known.before.apply }]
    })
    // Each round is about earlier applies.
    for (const id of ids) seen.add(id)
    const relations = await relate(earlier.map(({ apply }) => apply))
    open = earlier.filter(({ apply }) => relations.has(apply) && !seen.has(apply))
  }
}

function addMarks(plan: Plan, suspects: Suspect[]): Plan {
  const older = suspects.filter(({ goesBack, relation }) => goesBack && relation !== 'unknown')
  const untold = suspects.filter(({ goesBack, relation }) => goesBack && relation === 'unknown')
  const replaced = suspects.filter(({ goesBack, relation }) => !goesBack && relation === 'apart')
  const undone = new Map(
    older.map(({ change, apply }) => [nameChange(change), describeTree(apply) ?? '']),
  )
  return {
    ...plan,
    changes: plan.changes.map((change) => {
      const undoes = undone.get(nameChange(change))
      return undoes === undefined ? change : { ...change, undoes }
    }),
    ...(older.length === 0 ? {} : { older: older.map(toOlder) }),
    warnings: [
      ...(older.length === 0 ? [] : [`${describeOlder(older.map(toOlder))}. ${hint}`]),
      ...listBySource(untold).map(
        (source) =>
          `this clone is shallow: it is not known whether its commit contains ${source}. If not, ` +
          'these changes go back to older values. Fetch the whole history (fetch-depth: 0).',
      ),
      ...listBySource(replaced).map(
        (source) => `the commit does not contain what these changes replace: ${source}.`,
      ),
      ...plan.warnings,
    ],
  }
}

function toOlder({ change: { domain, item }, apply }: Suspect): OlderChange {
  const { id, startedAt, author } = apply
  return { domain, item, apply: id, startedAt, author, ...pickTree(apply) }
}

/** Describes in clauses what was applied from each tree: `origin of www.example.com from …`. */
function listBySource(suspects: Suspect[]): string[] {
  return describeSources(suspects.map(toOlder))
}

function describeSources(changes: OlderChange[]): string[] {
  return [...groupBy(changes, ({ apply }) => apply).values()].map((same) => {
    const [first] = same
    const names = listSome(same.map(({ domain, item }) => `${item} of ${domain}`))
    const by = first.author ? ` by ${escapeInvisible(first.author)}` : ''
    const tree = escapeInvisible(describeTree(first) ?? 'elsewhere')
    return `${names}, applied from ${tree}${by} on ${first.startedAt.slice(0, 10)}`
  })
}

/** Describes in a sentence without its end which changes go back, and what they undo. */
function describeOlder(older: OlderChange[]): string {
  const count = pluralize(older.length, 'change goes', 'changes go')
  return `${count} back to older values: ${describeSources(older).join('; ')}`
}

/**
 * Refuses changes back to older values, unless they are asked for or somebody consents.
 *
 * @throws EdgewiseError `guarded` where nobody can be asked; CancelledError
 */
export async function refuseOlder(
  older: OlderChange[],
  allowOlder: boolean | undefined,
  dialogue: Dialogue,
): Promise<void> {
  if (older.length === 0 || allowOlder === true) return
  const text = describeOlder(older)
  const names = listSome(older.map(({ domain, item }) => `${item} of ${domain}`))
  const refusal = new EdgewiseError(
    'guarded',
    `guards.order refuses to go back to older values (${names}); nothing was applied`,
    'If that is meant, pass --allow-older.',
  )
  if (!(await dialogue.confirm({ kind: 'older', text, refusal })))
    throw new CancelledError('Apply cancelled: nothing was sent')
}
