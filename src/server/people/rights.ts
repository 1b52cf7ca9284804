import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Identity } from '../../core/model/people/identity.ts'
import type { Action } from '../../core/model/people/roles.ts'
import { joinNeeds, type Authors } from '../../core/model/people/approvers.ts'
import { findCurrentWave, type Rollout } from '../../core/model/rollout.ts'
import type { Clock } from '../../core/model/time/clock.ts'
import { hashWave } from '../../engine/rollout/approvals.ts'
import { explainDecision, type DecisionRules, type Rules } from '../../operations/people/decide.ts'
import type { Branch } from '../branch/branch.ts'
import { isAboutCommit } from '../branch/commit-checks.ts'
import type { Logger } from '../logger.ts'

/** Commits that are tried until one is not refused, and commits that are known. */
const [maxCommits, maxKnown] = [10, 50]
/** Age up to which the tip of a replica that does not follow the branch is known, ms. */
const tipMs = 15_000

/** Rules before the first commit: nobody has a role. */
const nobody: Rules = { roles: [], needs: { by: 1, notAuthor: false } }
const firstNote =
  'No commit that was applied before had roles: the first ones count here, but not for its authors.'

/** What the rights of people come from. */
export interface RightsContext {
  branch: Pick<Branch, 'fetch' | 'listHistory' | 'findAuthors'>
  clock: Pick<Clock, 'monotonic'>
  logger: Pick<Logger, 'warn'>
  /** Returns the fetched commit; null on a replica that does not fetch. */
  getTip(): string | null
  /** Loads the rules of a commit, as the process that checked it has found them. */
  loadRules(commit: string): Promise<Rules>
  /** Lists the commits of the last confirmed values of a wave, as `listBases` does. */
  listBases(rollout: Rollout): Promise<(string | null)[]>
}

/** Who may do what, by the workspace file on the branch. */
export interface Rights {
  /** Finds the rules in force, for an action that is about no rollout. */
  findRules(): Promise<DecisionRules>
  /**
   * Finds the rules for a decision of somebody. About a rollout: those in force, and those of the
   * commit before the rollout's own. A commit that gives somebody a role gives it for later commits
   * only, and one that takes a role away takes it at once. The first commit with roles that is
   * applied has nothing before it: its own count, but not for its authors. Nearly all that the
   * token may needs no rules: who has it holds back even if the branch can't be read.
   */
  findRulesFor(identity: Identity, action: Action, rollout: Rollout | null): Promise<DecisionRules>
  /** Explains why somebody may not do something; null for what is allowed. */
  explain(identity: Identity, action: Action, rollout: Rollout | null): Promise<string | null>
}

/**
 * Creates the rights of people.
 *
 * Its functions throw EdgewiseError `unavailable` if the branch can't be read, and `invalid` if
 * each of the last commits was refused.
 */
export function createRights(context: RightsContext): Rights {
  const { branch, clock } = context
  const recallAuthors = createMemory<Authors>()
  let fetched: { tip: Promise<string>; sinceMs: number } | null = null
  const findTip = async (): Promise<string> => {
    const tip = context.getTip()
    if (tip !== null) return tip
    if (fetched === null || clock.monotonic() - fetched.sinceMs >= tipMs)
      fetched = { tip: branch.fetch(), sinceMs: clock.monotonic() }
    return fetched.tip
  }
  const { load, loadBefore } = createRulesLoader(context)
  const findRules = async (): Promise<DecisionRules> => ({
    sets: [await load(await findTip())],
    authors: 'no commit is decided about',
  })
  const findRulesFor: Rights['findRulesFor'] = async ({ knownBy }, action, rollout) => {
    if (knownBy === 'token' && action !== 'approve') return { sets: [], authors: 'nobody asks' }
    const inForce = await findRules()
    if (rollout === null) return inForce
    const { sets } = inForce
    const { commit } = rollout
    if (commit === null) return { sets, authors: 'the rollout is of no commit' }
    const before = await loadBefore(commit)
    const [isFirst, had] = [rollout.firstRoles === true, before.roles.length > 0]
    // Where the commit before has no roles only the token decides, and alone.
    if (knownBy === 'token' && !isFirst && !had) return { sets: [nobody], authors: 'nobody asks' }
    const { roles, needs } = isFirst && !had ? await load(commit) : before
    const strict = { by: 1, notAuthor: isFirst && knownBy !== 'token' }
    const source = isFirst ? undefined : "the commit before the rollout's own"
    const all = [...sets, { roles, needs: joinNeeds([needs, before.needs, strict]), source }]
    const note = isFirst ? firstNote : undefined
    if (!all.some((each) => each.needs.notAuthor))
      return { sets: all, authors: 'they do not count', note }
    const find = async () => branch.findAuthors(await context.listBases(rollout), commit)
    // Nobody else changes the values of a wave until it is sent.
    const key = `${commit} ${hashWave(rollout, findCurrentWave(rollout) ?? 0)}`
    return { sets: all, authors: await recallAuthors(key, find), note }
  }
  return {
    findRules,
    findRulesFor,
    explain: async (identity, action, rollout) =>
      explainDecision(identity, action, rollout, await findRulesFor(identity, action, rollout)),
  }
}

/** Creates what loads the rules of a commit and of the one before it. */
function createRulesLoader({ branch, logger, loadRules }: RightsContext) {
  const recall = createMemory<Rules>()
  const recallBefore = createMemory<string | undefined>()
  const attempt = (commit: string): Promise<Rules | EdgewiseError> =>
    recall(commit, () => loadRules(commit)).catch((error: unknown) => {
      if (isAboutCommit(error)) return error
      throw error
    })
  let warned = ''
  /** Loads the rules of a commit, or of the last one before it that was not refused. */
  const load = async (commit: string): Promise<Rules> => {
    const own = await attempt(commit)
    if (!(own instanceof EdgewiseError)) return own
    for (const each of (await branch.listHistory(commit, maxCommits)).slice(1)) {
      const rules = await attempt(each)
      if (rules instanceof EdgewiseError) continue
      const fields = { commit: each, error: own.message }
      const what = JSON.stringify(fields)
      if (what !== warned) logger.warn('roles of an earlier commit used', fields)
      warned = what
      return rules
    }
    throw new EdgewiseError(
      'invalid',
      `the last ${maxCommits} commits were refused, and roles come from one: ${own.message}`,
      'The token of the server still decides.',
    )
  }
  const loadBefore = async (commit: string): Promise<Rules> => {
    const before = await recallBefore(commit, async () => (await branch.listHistory(commit, 2))[1])
    return before === undefined ? nobody : load(before)
  }
  return { load, loadBefore }
}

/** Creates a memory of what follows from commits, which never changes; failures are forgotten. */
function createMemory<T>() {
  const known = new Map<string, Promise<T>>()
  return (key: string, load: () => Promise<T>): Promise<T> => {
    const last = known.get(key)
    if (last !== undefined) return last
    const [oldest] = known.keys()
    if (known.size >= maxKnown && oldest !== undefined) known.delete(oldest)
    const found = load()
    known.set(key, found)
    found.catch(() => known.delete(key))
    return found
  }
}
