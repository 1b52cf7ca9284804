import type { Comparable, Outside } from '../runtime/parts.ts'
import type { Write } from '../../core/model/change.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { setItem, type ItemKey } from '../../core/model/item.ts'
import type { Plan } from '../../core/model/plan.ts'
import { listUnreadable } from '../../outlets/report/drift/text.ts'
import { groupChanges } from '../../outlets/report/plan/blocks.ts'
import { formatBlocks } from '../../outlets/report/plan/text.ts'
import { plainPaint } from '../../outlets/report/text/paint.ts'
import type { RecordedState } from '../../state/store/store.ts'
import { compareLive, type Compared } from './compare-live.ts'
import { buildRepairBase } from './find-drift.ts'

/**
 * Compares what the first writes of a plan would change with the service, if that can be read: a
 * write sends whole items, and would undo what somebody else changed in them. Differences in
 * `allow` go on from the values of the service.
 *
 * @returns the new state of the domains with such a difference, which has those values
 * @throws EdgewiseError `guarded` with the differences, and the errors of the queries
 */
export async function compareWritten(
  workspace: Comparable,
  plan: Plan,
  recorded: RecordedState,
  outside: Outside,
  allow: ItemKey[] = [],
): Promise<RecordedState> {
  const written = selectWritten(plan, recorded)
  if (!workspace.config.service.readBack || written.size === 0) return new Map()
  // A difference that is ignored would be lost too.
  const compared = await compareLive(workspace, written, outside, [])
  const refused = new Set(
    compared.open.map(({ item }) => item).filter((item) => !allow.includes(item)),
  )
  if (refused.size > 0) throw createRefusal(compared, [...refused])
  return buildRepairBase(
    compared.found,
    recorded,
    workspace,
    new Date(outside.clock.now()).toISOString(),
  )
}

/** Lists the writes of the first wave that has some. */
export function listFirstWrites({ writes }: Plan): Write[] {
  const first = writes.reduce((least, { wave }) => Math.min(least, wave), Infinity)
  return writes.filter(({ wave }) => wave === first)
}

/** Selects the recorded items that the first writes of a plan change, with what they empty. */
function selectWritten(plan: Plan, recorded: RecordedState): RecordedState {
  const domains = new Set(listFirstWrites(plan).flatMap((write) => write.domains))
  const written: RecordedState = new Map()
  for (const { domain, item, action } of plan.changes) {
    const state = recorded.get(domain)?.get(item)
    if (action === 'release' || state === undefined || state.status === 'in-doubt') continue
    if (domains.has(domain)) setItem(written, domain, item, state)
  }
  return written
}

function createRefusal({ open, found }: Compared, items: ItemKey[]): EdgewiseError {
  const lines = [
    ...formatBlocks(groupChanges(found.drift.live), {
      paint: plainPaint,
      columns: 100,
      verbose: false,
    }),
    ...listUnreadable(open),
  ]
  return new EdgewiseError(
    'guarded',
    'differs: the service has other values than recorded, which these writes would undo; they ' +
      `were not sent:\n${lines.join('\n')}`,
    'Record them with "edgewise import --live --replace --target DOMAIN" and plan again, or pass ' +
      `${items.map((item) => `--allow ${item}`).join(' ')}, without a plan file, to replace them.`,
  )
}
