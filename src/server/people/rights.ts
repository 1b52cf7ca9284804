import { join } from 'node:path'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Identity } from '../../core/model/people/identity.ts'
import type { Action, RoleRule } from '../../core/model/people/roles.ts'
import type { Authors } from '../../core/model/people/approvers.ts'
import { findCurrentWave, type Rollout } from '../../core/model/rollout.ts'
import type { Clock } from '../../core/model/time/clock.ts'
import { hashWave } from '../../engine/rollout/approvals.ts'
import { loadBounded } from '../../files/load-bounded.ts'
import { workspaceFile } from '../../manifest/workspace-file/find-root.ts'
import { parseWorkspaceConfig } from '../../manifest/workspace-file/workspace-config.ts'
import { explainDecision, type DecisionRules, type Rules } from '../../operations/people/decide.ts'
import type { Branch } from '../branch/branch.ts'

/** Commits that are tried until one has a valid workspace file, and commits that are known. */
const [maxCommits, maxKnown] = [10, 50]
/** Maximum size of the workspace file, bytes. */
const maxFileBytes = 4 * 1024 ** 2
/** Age up to which the tip of a replica that does not follow the branch is known, ms. */
const tipMs = 15_000

/** What the rights of people come from. */
export interface RightsContext {
  branch: Pick<Branch, 'fetch' | 'hold' | 'listHistory' | 'findAuthors'>
  clock: Pick<Clock, 'monotonic'>
  env: Record<string, string | undefined>
  /** Returns the fetched commit; null on a replica that does not fetch. */
  getTip(): string | null
  /** Lists the roles of those who own domains by the manifests of a commit. */
  listOwnerRoles(commit: string): Promise<RoleRule[]>
  /** Lists the commits of the last confirmed values of a wave, as `listBases` does. */
  listBases(rollout: Rollout): Promise<(string | null)[]>
}

/** Who may do what, by the workspace file on the branch. */
export interface Rights {
  /** Finds the rules in force, for an action that is about no rollout. */
  findRules(): Promise<DecisionRules>
  /**
   * Finds the rules for a decision about a rollout: those in force, and those of the commit before
   * the rollout's own. A commit that gives somebody a role gives it for later commits only, and one
   * that takes a role away takes it at once.
   */
  findRulesFor(rollout: Rollout): Promise<DecisionRules>
  /** Explains why somebody may not do something; null for what is allowed. */
  explain(identity: Identity, action: Action, rollout: Rollout | null): Promise<string | null>
}

/**
 * Creates the rights of people.
 *
 * Its functions throw EdgewiseError `unavailable` if the branch can't be read, and `invalid` if
 * none of the last commits has a valid workspace file.
 */
export function createRights(context: RightsContext): Rights {
  const { branch, clock } = context
  const recall = createMemory<Rules>()
  const recallAuthors = createMemory<Authors>()
  let fetched: { tip: Promise<string>; sinceMs: number } | null = null
  const findTip = async (): Promise<string> => {
    const tip = context.getTip()
    if (tip !== null) return tip
    if (fetched === null || clock.monotonic() - fetched.sinceMs >= tipMs)
      fetched = { tip: branch.fetch(), sinceMs: clock.monotonic() }
    return fetched.tip
  }
  const load = (commit: string) => recall(commit, () => loadRules(context, commit))
  const findRules = async (): Promise<DecisionRules> => ({
    sets: [await load(await findTip())],
    authors: 'no commit is decided about',
  })
  const findRulesFor = async (rollout: Rollout): Promise<DecisionRules> => {
    const { sets } = await findRules()
    const { commit } = rollout
    if (commit === null) return { sets, authors: 'the rollout is of no commit' }
    const earlier = await recall(`before ${commit}`, () => loadBefore(branch, commit, load))
    const all = [...sets, earlier]
    if (!all.some(({ needs }) => needs.notAuthor))
      return { sets: all, authors: 'they do not count' }
    const find = async () => branch.findAuthors(await context.listBases(rollout), commit)
    // Nobody else changes the values of a wave until it is sent.
    const key = `${commit} ${hashWave(rollout, findCurrentWave(rollout) ?? 0)}`
    return { sets: all, authors: await recallAuthors(key, find) }
  }
  return {
    findRules,
    findRulesFor,
    explain: async (identity, action, rollout) => {
      // Who has the token may look and hold back even if the branch can't be read.
      if (identity.knownBy === 'token' && action !== 'approve') return null
      const rules = await (rollout === null ? findRules() : findRulesFor(rollout))
      return explainDecision(identity, action, rollout, rules)
    },
  }
}

/** Loads the rules of the commit before another one; before the first one nobody had a role. */
async function loadBefore(
  branch: RightsContext['branch'],
  commit: string,
  load: (commit: string) => Promise<Rules>,
): Promise<Rules> {
  const [, before] = await branch.listHistory(commit, 2)
  return before === undefined ? { roles: [], needs: { by: 1, notAuthor: false } } : load(before)
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

/** Loads the rules of a commit, or of the last one before it with a valid workspace file. */
async function loadRules(
  { branch, env, listOwnerRoles }: RightsContext,
  commit: string,
): Promise<Rules> {
  for (const each of await branch.listHistory(commit, maxCommits)) {
    const rules = await branch.hold(each, async (root) => parseRules(root, env))
    if (rules === null) continue
    // Without a role, only the token decides.
    return rules.roles.length === 0
      ? rules
      : { ...rules, roles: [...rules.roles, ...(await listOwnerRoles(each))] }
  }
  throw new EdgewiseError(
    'invalid',
    `none of the last ${maxCommits} commits has a valid ${workspaceFile}, which has the roles`,
    'The token of the server still decides.',
  )
}

function parseRules(root: string, env: RightsContext['env']): Rules | null {
  const bytes = loadBounded(join(root, workspaceFile), maxFileBytes, 'refuse')
  if (!(bytes instanceof Uint8Array)) return null
  const { config } = parseWorkspaceConfig({ path: workspaceFile, text: String(bytes) }, env)
  return config === null ? null : { roles: config.roles, needs: config.rollout.approvers }
}
