import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Diagnostic } from '../../core/model/problem.ts'
import type { Judged } from '../../core/checks/suppressions.ts'
import { findingCodes } from '../../core/rule-lists/codes.ts'
import type { Workspace } from '../../manifest/workspace-file/workspace.ts'
import type { Configured, Desired, Findings, ItemPlaces, TextSources } from './parts.ts'

/** What plans have found about the rule lists of a workspace. */
const judgedForPlan = new WeakMap<object, Judged>()

/**
 * Finds the problems that matter for a plan. It looks at rule lists only if the level of one of
 * their codes is set to error or warning: that takes time.
 */
export async function judgeForPlan(
  workspace: Configured & Desired & ItemPlaces & TextSources & Findings,
): Promise<Judged> {
  const { diagnostics, levels, judgeAll } = workspace
  const isAsked = Object.entries(levels).some(
    ([code, level]) => Object.hasOwn(findingCodes, code) && /^(?:error|warning)$/.test(level),
  )
  if (!isAsked) return { diagnostics, suppressed: [] }
  const { listRuleFindings } = await import('../rule-findings.ts')
  const judged = judgedForPlan.get(judgeAll) ?? judgeAll(listRuleFindings(workspace), false)
  judgedForPlan.set(judgeAll, judged)
  return judged
}

/**
 * Refuses a workspace without a manifest: a wrong glob or folder would otherwise release every
 * domain.
 *
 * @throws EdgewiseError `invalid`
 */
export function refuseEmpty(
  workspace: Pick<Workspace, 'root' | 'desired' | 'diagnostics' | 'findNoManifest'>,
): void {
  const [found] = findEmpty(workspace)
  if (found === undefined) return
  throw new EdgewiseError(
    'invalid',
    `no manifest was found in ${workspace.root}: ${found.detail}`,
    'Check the folder, and "manifests" in edgewise.yaml. To release the last domain, keep its ' +
      'manifest with "config: {}", or remove it from state with "edgewise state forget".',
  )
}

/** Finds the error of a workspace without a manifest; one with other errors has no such error. */
export function findEmpty(
  workspace: Pick<Workspace, 'desired' | 'diagnostics' | 'findNoManifest'>,
): Diagnostic[] {
  return workspace.desired.size > 0 || hasErrors(workspace) ? [] : [workspace.findNoManifest()]
}

/** Tests whether a manifest has an error. */
export function hasErrors({ diagnostics }: Pick<Workspace, 'diagnostics'>): boolean {
  return diagnostics.some(({ severity }) => severity === 'error')
}

/**
 * Refuses a workspace whose manifests have errors.
 *
 * @throws EdgewiseError `invalid`
 */
export function refuseInvalid(
  workspace: Pick<Workspace, 'diagnostics'>,
  message = 'the manifests have errors',
  hint = 'Run "edgewise validate".',
): void {
  if (hasErrors(workspace)) throw new EdgewiseError('invalid', message, hint, workspace.diagnostics)
}
