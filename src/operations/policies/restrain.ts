import { EdgewiseError, throwDefect } from '../../core/model/edgewise-error.ts'
import { resolvePointer, type Json, type JsonObject } from '../../core/model/json.ts'
import { computePatch } from '../../core/diff/diff-snapshots.ts'
import { hashDomains, hashJson } from '../../core/plan/basis.ts'
import {
  isSame,
  joinRestraints,
  listLostPolicies,
  type Restraints,
} from '../../core/policy/restraints.ts'
import { findRealPath } from '../../files/look.ts'
import { parseWritten } from '../../manifest/workspace-file/workspace-config.ts'
import type { WorkspaceConfig } from '../../manifest/workspace-file/workspace.ts'
import { escapeInvisible } from '../../outlets/report/text/escape-invisible.ts'
import type { RecordedRestraints, RestraintStore } from '../../state/store/store.ts'
import type { Outside, Plannable } from '../runtime/parts.ts'
import type { Executed } from '../submission/executed.ts'

/** A workspace whose changes are restrained by what was applied last, too. */
export interface Restrained {
  /** Describes what the commit loosens, a sentence for each key. */
  loosened: string[]
  /** Whether a commit that was applied before had roles. */
  hadRoles: boolean
  /** What is recorded once all that the commit changes is done, refused, or left open. */
  toRecord: Record<'done' | 'refused' | 'open', RecordedRestraints | null>
}

/**
 * Does the work of an operation with a restrained workspace, and records in a store what restrains
 * changes from then on. A refusal says what the commit loosens.
 *
 * @param store null for an operation that applies no commit
 * @param isPart of what the commit changes: the rest is still judged by what was applied before
 */
export async function recordRestraints(
  { loosened, toRecord }: Restrained,
  store: RestraintStore | null,
  isPart: boolean,
  { note }: Outside,
  work: () => Promise<Executed>,
): Promise<Executed> {
  const record = async (next: RecordedRestraints | null) => {
    if (next === null) return
    await store?.saveRestraints(next).catch((error: unknown) => {
      throwDefect(error)
      note?.(`what restrains changes is not recorded: ${error.message}`)
    })
  }
  try {
    const executed = await work()
    await record(executed.status === 'done' && !isPart ? toRecord.done : toRecord.open)
    return executed
  } catch (error) {
    const isRefusal = error instanceof EdgewiseError && ['guarded', 'usage'].includes(error.code)
    if (!isRefusal || loosened.length === 0) throw error
    await record(isPart ? null : toRecord.refused)
    const hint = [error.hint, ...loosened].join('\n')
    throw new EdgewiseError(error.code, error.message, hint, error.diagnostics)
  }
}

/**
 * Restrains changes of a workspace by its own files and by those that were applied last: the
 * stricter counts. Every operation that plans for the service or changes it uses this function.
 */
export async function restrain<T extends Plannable>(
  workspace: T,
  store: RestraintStore,
): Promise<T & Restrained> {
  const { config, desired } = workspace
  const source = { file: config.written, policies: await listPolicies(workspace) }
  const own = pickRestraints(config, source.policies)
  const last = (await store.loadRestraints()) ?? { of: '', before: [], own: [] }
  const [lastBefore, lastOwn] = [joinSources(last.before), joinSources(last.own)]
  const keep = (before: Restraints) => ({
    ...workspace,
    loosened: [],
    hadRoles: last.hadRoles === true || before.roles.length > 0,
    toRecord: { done: null, refused: null, open: null },
  })
  if (isSame(own, lastOwn) && isSame(own, lastBefore)) return keep(own)
  const { commit } = await workspace.findTree()
  const of = commit ?? hashJson([source, hashDomains(desired, desired.keys())])
  const [before, sources] = last.of === of ? [lastBefore, last.before] : [lastOwn, last.own]
  const plain = keep(before)
  const { hadRoles } = plain
  const used = joinRestraints(before, own)
  // An earlier commit that is applied again loosens nothing.
  const isEarlier = (await workspace.relateCommits([last.of])).get(last.of) === 'later'
  const build = (all: typeof sources, counts: Restraints) =>
    isEarlier || isSame([before, counts], [lastBefore, lastOwn])
      ? null
      : { of, before: sources, own: all, ...(hadRoles ? { hadRoles } : {}) }
  const done = build([source], own)
  // While an earlier apply is incomplete, a refusal ends nothing.
  const refused = last.own.length > 1 ? null : done
  const toRecord = { done, refused, open: build([...sources, source], used) }
  if (isSame(used, own)) return { ...plain, toRecord }
  const lost = listLostPolicies(before.policies, own.policies)
  const levels = {
    ...workspace.levels,
    ...Object.fromEntries(used.checks.map((code) => [code, 'error'])),
  }
  const judgeAll: Plannable['judgeAll'] = (others, isComplete) =>
    workspace.judgeAll(others, isComplete, levels)
  return {
    ...workspace,
    hadRoles,
    toRecord,
    config: {
      ...config,
      guards: used.guards,
      rollout: used.rollout,
      trace: { ...config.trace, ...used.trace },
    },
    levels,
    judgeAll,
    diagnostics: judgeAll([], false).diagnostics,
    lostPolicies: lost.map((each) => JSON.stringify(each)).join('\n---\n'),
    loosened: describeLoosened(own, used),
  }
}

function pickRestraints(config: WorkspaceConfig, policies: JsonObject[]): Restraints {
  const { guards, checks, roles, rollout, trace } = config
  return {
    guards,
    rollout: { ...rollout, pause: rollout.waves.length > 1 ? rollout.pause : 0 },
    checks: Object.entries(checks).flatMap(([code, level]) => (level === 'error' ? code : [])),
    roles: roles.length === 0 ? [] : [roles],
    trace: policies.some(({ on }) => on === 'request') ? { ...trace } : {},
    policies,
  }
}

/** Joins recorded restraints; without any, those of an empty workspace file. */
export function joinSources(sources: RecordedRestraints['own']): Restraints {
  return (sources.length > 0 ? sources : [{ file: {}, policies: [] }])
    .map(({ file, policies }) => {
      const config = parseWritten(file)
      if (config !== null) return pickRestraints(config, policies)
      throw new EdgewiseError('record-damaged', 'the recorded restraints are not valid')
    })
    .reduce(joinRestraints)
}

async function listPolicies({ root, policyFiles }: Plannable): Promise<JsonObject[]> {
  if (policyFiles.length === 0) return []
  const { loadPolicies } = await import('../../manifest/policies/load-policies.ts')
  return loadPolicies(findRealPath(root), policyFiles).policies.map(({ document }) => {
    const { except: _, ...policy } = document.value as JsonObject
    return policy
  })
}

/** Maximum length of a value in a message. */
const maxShown = 100

function describeLoosened(own: Restraints, used: Restraints): string[] {
  const show = (of: Restraints, pointer: string) => {
    const value = resolvePointer(of as unknown as Json, pointer) ?? null
    const text = Array.isArray(value) ? value.map(showEntry).join(', ') : showEntry(value)
    const shown = text === '' ? 'nothing' : text
    return escapeInvisible(shown.length > maxShown ? `${shown.slice(0, maxShown)}…` : shown)
  }
  const changed = computePatch(own as unknown as Json, used as unknown as Json).map(
    ({ path }) => /^\/(?:(?:guards|rollout)\/)?\w+/.exec(path)?.[0] ?? '',
  )
  return [...new Set(changed)].map(
    (pointer) =>
      `${pointer.slice(1).replace('/', '.')}: this commit has ${show(own, pointer)}; ` +
      `${show(used, pointer)} counts, as applied last. Merge that alone first`,
  )
}

/** Formats a value, or an entry of a list; globs of one list stand beside each other. */
function showEntry(value: Json): string {
  const words = Array.isArray(value) ? value : [value]
  const isPlain = words.every((each) => typeof each === 'string' || typeof each === 'number')
  return isPlain ? words.join(' ') : JSON.stringify(value)
}
