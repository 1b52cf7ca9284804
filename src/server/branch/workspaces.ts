import type { Settings, Configured, Outside } from '../../operations/runtime/parts.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { countProblems } from '../../core/model/problem.ts'
import { pluralize } from '../../core/model/text/words.ts'
import type { DriftRequest } from '../../operations/drift.ts'
import { loadWorkspace, type LoadedWorkspace } from '../../operations/runtime/load-workspace.ts'
import { observe } from '../../operations/observation/observe.ts'
import type { CommitChecks } from './commit-checks.ts'
import type { Branch } from './branch.ts'

/** What must be the same in all commits: the state that this controller leads. */
export interface Identity {
  id: string
  address: string
  database: string
}

/** A workspace with its commit. */
export type Committed = LoadedWorkspace & { commit: string }

/** Returns the settings of a workspace, which may be kept when its manifests are not. */
export function pickSettings(workspace: Settings): Settings {
  const { root, config, scrub, redact, buildProgramEnvironment } = workspace
  const { explainMissing, explainTokenFault } = workspace
  const hidden = { scrub, redact, buildProgramEnvironment }
  return { root, config, ...hidden, explainMissing, explainTokenFault }
}

/**
 * Loads the workspace of a commit once another process has done so within limits. Manifests may be
 * invalid: rollouts of other commits continue.
 *
 * @throws EdgewiseError `invalid` if its edgewise.yaml is, or if it exceeds the limits, and those
 * of `Branch.checkOut`
 */
export async function loadCommit(
  branch: Pick<Branch, 'hold'>,
  commit: string,
  outside: Outside,
  checks: CommitChecks,
): Promise<Committed> {
  return branch.hold(commit, async (root) => {
    await checks.check(root, commit, outside)
    return Object.assign(loadWorkspace(root, outside, 'available'), { commit })
  })
}

/** Tests whether checks read back from the service, since nothing else observes it. */
export function readsBack({ config }: Configured): boolean {
  return config.service.readBack && config.serve.drift.observed === null
}

/** Builds the request of a drift check: with the observed configuration, if there is a source. */
export function buildDriftRequest(
  workspace: Settings,
  outside: Pick<Outside, 'env' | 'signal'>,
): DriftRequest {
  const { root: cwd, config, scrub } = workspace
  const { observed } = config.serve.drift
  if (observed === null) return {}
  const env = workspace.buildProgramEnvironment('observed')
  return { observe: () => observe(observed, { ...outside, env, cwd }, scrub) }
}

/** @throws EdgewiseError `invalid`, with the place of the first problem */
export function refuseInvalid({ commit, diagnostics }: Committed): void {
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  const [first] = errors
  if (first === undefined) return
  const { file, line, column, detail } = first
  throw new EdgewiseError(
    'invalid',
    `the manifests of ${commit.slice(0, 12)} have ${pluralize(countProblems(errors), 'error')}, ` +
      `the first at ${file}:${line}:${column}: ${detail}`,
    'Nothing of this commit is applied. "edgewise validate" lists all problems.',
  )
}

/**
 * Identifies the state of a workspace.
 *
 * @throws EdgewiseError `usage` if it is not in PostgreSQL, `access` without an address
 */
export function identify({ config, explainMissing }: Settings): Identity {
  const { database } = config.state
  if (config.state.store === 'postgres' && database !== undefined) {
    const { url, schema } = database
    return { id: config.id, address: config.service.url, database: `${url} ${schema}` }
  }
  if (config.state.store === 'postgres')
    throw new EdgewiseError(
      'access',
      `no address of the database that has the state: ${explainMissing('/state/url')}`,
      'Set it in the environment of edgewise serve.',
    )
  throw new EdgewiseError(
    'usage',
    'serve needs its state in PostgreSQL, where the replicas elect a leader and rollouts continue',
    'Configure "state: {store: postgres, url: ${env:DATABASE_URL}}" and set the variable. ' +
      '"edgewise state migrate" moves existing state.',
  )
}

/** @throws EdgewiseError `usage` if a commit has moved the workspace to other state */
export function refuseMoved(workspace: Settings, known: Identity): void {
  const now = identify(workspace)
  if (now.id === known.id && now.address === known.address && now.database === known.database)
    return
  throw new EdgewiseError(
    'usage',
    'the branch has another id, service or state than this controller began with',
    'Restart edgewise serve if that is meant.',
  )
}
