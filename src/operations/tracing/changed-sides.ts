import type { Change } from '../../core/model/change.ts'
import { groupBy } from '../../core/model/lists.ts'
import type { ChangedSides } from '../../outlets/report/effects/pack-sides.ts'
import type { Comparable } from '../runtime/parts.ts'
import { readRecorded, settleReadings, type Assumptions } from './candidates.ts'
import { applyChanges, type States } from './effects.ts'

/**
 * Lists the configurations of the domains that a plan changes, before and after it, as
 * `findEffects` compares them; secrets are only their names.
 *
 * @throws EdgewiseError `usage` for a bad reading
 */
export function listChangedSides(
  workspace: Comparable,
  recorded: States,
  changes: readonly Change[],
  assumptions: Assumptions,
): ChangedSides {
  const { desired } = workspace
  const domains = [...groupBy(changes, ({ domain }) => domain)].map(([domain, own]) => ({
    domain,
    read: () => {
      const before = readRecorded(recorded.get(domain) ?? new Map())
      return { before, after: applyChanges(before, own, workspace) }
    },
  }))
  return {
    domains,
    known: new Set([...recorded.keys(), ...desired.keys()]),
    settings: settleReadings(workspace, assumptions),
  }
}
