import { resolve } from 'node:path'
import type { ApplyRequest } from '../../operations/apply.ts'
import type { Outside } from '../../operations/runtime/parts.ts'
import type { CommandContext } from '../io.ts'
import type { Declare } from './declare.ts'
import {
  addGuardOptions,
  addOlderOption,
  addOverrideOptions,
  addReportOption,
  buildGuardRequest,
  addLockOptions,
  addSelectionOptions,
  type GuardOptions,
  type LockOptions,
  type OverrideOptions,
  type ReportOptions,
  type SelectionOptions,
} from './options.ts'

interface ApplyOptions
  extends SelectionOptions, GuardOptions, OverrideOptions, LockOptions, ReportOptions {
  /** False with `--no-waves`. */
  waves: boolean
  retryHeld?: boolean
  allowRelease?: boolean
  /** False with `--no-wait`. */
  wait: boolean
  verify?: boolean
  metricsFile?: string
}

/** `edgewise apply`: locks, plans, shows the plan, asks, and executes it. */
export function declareApply(declare: Declare): void {
  const command = declare<ApplyOptions>('apply [planfile]', {
    description: 'apply the changes, or exactly those of a saved plan',
    args: ['a file of "edgewise plan --out"; without it, apply plans and asks'],
    examples: ['apply', 'apply --yes', 'apply plan.json', 'apply --yes --allow https --force'],
    traced: true,
    run: (context, [planFile], options) =>
      runApply(context, typeof planFile === 'string' ? planFile : null, options),
  })
  addReportOption(
    addOlderOption(addOverrideOptions(addGuardOptions(addSelectionOptions(command)))),
    'apply',
  )
    .option(
      '--no-waves',
      'apply all at once without health checks; finishes an open rollout of the same change',
    )
    .option(
      '--no-wait',
      'end where a rollout has to wait; the next apply or edgewise serve resumes it',
    )
    .option('--verify', 'read back what was confirmed (service.readBack); exit 3 if it differs')
    .option('--retry-held', 'also apply changes that are on hold')
    .option('--allow-release', 'release items that another workspace with this id has applied')
    .option('--metrics-file <file>', 'write metrics for a text-file collector of Prometheus')
  addLockOptions(command)
}

/** Runs an apply with its reports and metrics, and returns the exit code. */
async function runApply(
  context: CommandContext,
  planFile: string | null,
  options: ApplyOptions,
): Promise<number> {
  context.io.saveMemory?.()
  const { apply } = await import('../../operations/apply.ts')
  const { createTerminalDialogue } = await import('../terminal/dialogue.ts')
  const { executeAndFinish, openToWrite } = await import('../finish-executed.ts')
  const { withApplyReports } = await import('../apply-report.ts')
  const { createReports } = await import('../reports.ts')
  const workspace = await openToWrite(context)
  const plan =
    planFile === null
      ? undefined
      : await loadPlanFile(resolve(context.io.cwd, planFile), workspace.root)
  const request = buildRequest(options, plan)
  const files = createReports('apply', options, workspace, context.io)
  let outside: Outside = context.io
  if (options.metricsFile !== undefined) {
    const { createMetricsFile } = await import('../metrics-file.ts')
    const metrics = createMetricsFile(options.metricsFile, workspace, context.io)
    files.push(metrics.file)
    outside = metrics.outside
  }
  const { code } = await executeAndFinish(context, workspace, outside, (watched) =>
    withApplyReports(files, !options.waves, createTerminalDialogue(context), (recorded) =>
      apply(workspace, request, { outside: watched, ...recorded }),
    ),
  )
  return code
}

async function loadPlanFile(path: string, root: string): Promise<string> {
  const { loadFile } = await import('../load-file.ts')
  const { findCheckout } = await import('../../state/git/find-repository.ts')
  const hint = 'Make one with "edgewise plan --out FILE".'
  return loadFile(path, `the plan file ${path}`, hint, findCheckout(root) ?? root)
}

/** Builds the request of an apply; `planFile` is the text of a saved plan. */
function buildRequest(options: ApplyOptions, planFile: string | undefined): ApplyRequest {
  return {
    ...buildGuardRequest(options),
    overrides: options.override,
    ...(options.reason === undefined ? {} : { reason: options.reason }),
    target: options.target,
    items: options.item,
    waves: options.waves,
    suspends: !options.wait,
    retryHeld: options.retryHeld === true,
    allowRelease: options.allowRelease === true,
    verify: options.verify === true,
    lockTimeout: options.lockTimeout,
    planFile,
  }
}
