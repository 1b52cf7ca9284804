import type { Amount, Guards, RolloutConfig } from '../model/config.ts'
import { isSameJson, type Json, type JsonObject } from '../model/json.ts'
import { joinNeeds } from '../model/people/approvers.ts'
import type { RoleRule } from '../model/people/roles.ts'
import { levels } from './subject.ts'

/** What restrains changes: keys of the workspace file, and the policies. */
export interface Restraints {
  guards: Guards
  rollout: RolloutConfig
  /** Codes of findings that are errors. */
  checks: string[]
  /** Lists of roles, all of which count. */
  roles: RoleRule[][]
  /** As their files have them. */
  policies: JsonObject[]
}

/** How each key is joined of what was applied last and of a commit: the stricter counts. */
type Rows<T> = { [Key in keyof T]-?: (before: T[Key], own: T[Key]) => T[Key] }

const guards: Rows<Guards> = {
  maxDomains: joinAmounts,
  maxChanges: joinAmounts,
  maxTraffic: Math.min,
  protect: unite,
  freeze: unite,
  order: (before, own) => (before === 'ask' ? before : own),
  reason: unite,
}

/** What has no order is that of before, if it restrains anything. */
const rollout: Rows<Restraints['rollout']> = {
  waves: (before) => before,
  by: (before) => before,
  first: (before, own) => (before.length > 0 ? before : own),
  pause: Math.max,
  approval: unite,
  approvalAbove: (before, own = before) =>
    before === undefined ? own : Math.min(before, own ?? before),
  approvers: (...both) => joinNeeds(both),
  revert: (before, own) => (before === 'waves' ? before : own),
  health: (before, own) => before ?? own,
}

const rows: Rows<Restraints> = {
  guards: (before, own) => joinRows(guards, before, own),
  rollout: (before, own) => {
    const isOneWave = before.waves.length === 1 && before.approval.length === 0
    const { waves, by } = isOneWave ? own : before
    return joinRows(rollout, { ...before, waves, by }, own)
  },
  checks: unite,
  roles: unite,
  policies: (before, own) => [...listLostPolicies(before, own), ...own],
}

/** Joins what restrained the last apply and what a commit has: the stricter counts. */
export function joinRestraints(before: Restraints, own: Restraints): Restraints {
  return joinRows(rows, before, own)
}

function joinRows<T extends object>(joins: Rows<T>, before: T, own: T): T {
  const keys = Object.keys(joins) as (keyof T)[]
  const joined = keys.map((key) => [key, joins[key](before[key], own[key])] as const)
  return Object.fromEntries(joined.filter(([, value]) => value !== undefined)) as T
}

/** Lists the policies of before that a commit lacks, has otherwise or with a lower level. */
export function listLostPolicies(before: JsonObject[], own: JsonObject[]): JsonObject[] {
  const rank = ({ level }: JsonObject) => levels.findIndex((each) => each === level)
  return before.filter(
    (each) =>
      !own.some((other) => {
        const { level = null, message = null } = each
        return rank(other) >= rank(each) && isSame({ ...other, level, message }, each)
      }),
  )
}

/** Joins limits: a number and a share both hold, since they can't be compared. */
function joinAmounts(before: Amount, own: Amount): Amount {
  const limits = [before, own].filter((each) => !isSame(each, { percent: 100 }))
  const all = limits.flatMap((each) => Object.entries<number>(each))
  // The smallest comes last.
  const sorted = all.toSorted(([, one], [, other]) => other - one)
  return limits.length === 0 ? own : (Object.fromEntries(sorted) as Amount)
}

function unite<T>(before: T[], own: T[]): T[] {
  return [...own, ...before.filter((each) => !own.some((other) => isSame(other, each)))]
}

/** Tests whether two restraints, or values of a key, are the same. */
export function isSame(one: unknown, other: unknown): boolean {
  return isSameJson(one as Json, other as Json)
}
