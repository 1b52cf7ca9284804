import type { Policed } from '../../operations/runtime/workspace-parts.ts'
import { createHash } from 'node:crypto'
import { join, resolve } from 'node:path'
import type { ApplyEvent } from '../../core/model/events.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { isInside } from '../../files/is-inside.ts'
import { listFileNames } from '../../files/list-names.ts'
import { apply } from '../../operations/apply.ts'
import {
  approvalEnding,
  checkApproval,
  createRefusal,
  digestPlan,
  hasPrivateKey,
  keyVariable,
  markApproved,
  parsePublicKeys,
  refuseUsed,
} from '../../operations/people/plan-approval.ts'
import { loadWorkspace, type LoadedWorkspace } from '../../operations/runtime/load-workspace.ts'
import { loadState } from '../../operations/runtime/open-state.ts'
import { openPolicies } from '../../operations/submission/policies.ts'
import { findStatus } from '../../operations/submission/executed.ts'
import { plainPaint } from '../../outlets/report/text/paint.ts'
import { findCheckout } from '../../state/git/find-repository.ts'
import { executeAndFinish } from '../finish-executed.ts'
import type { CommandContext, Io } from '../io.ts'
import { loadFile } from '../load-file.ts'
import { declareTool, type Tool } from '../mcp/tools/tool.ts'
import { createTerminalDialogue } from '../terminal/dialogue.ts'

/** Maximum number of files in the folder of plans, and of listed problems and notes. */
const [maxPlans, maxListed] = [1000, 50]

/** Paths of the command line. */
interface ApplyPaths {
  /** File with the public keys of who approves. */
  approver: string
  /** Folder of the saved plans. */
  plans: string
}

/**
 * Creates the tool that applies a saved plan which a person has approved.
 *
 * @param root folder of `edgewise.yaml`
 * @throws EdgewiseError `usage` if an assistant could approve a plan itself
 */
export function createApplyTool(context: CommandContext, root: string, paths: ApplyPaths): Tool {
  const { io } = context
  const folder = findCheckout(root) ?? root
  const plans = resolve(io.cwd, paths.plans)
  const approver = resolve(io.cwd, paths.approver)
  refuseReachableKeys(io.env, approver, folder)
  const keys = parsePublicKeys(
    loadFile(approver, `the file of --approver, ${approver}`),
    `the file of --approver, ${approver},`,
  )
  // An assistant may be able to edit these files.
  const rules = hashRules(loadWorkspace(root, io, 'none'), folder)
  return declareTool<{ digest: string }>({
    name: 'apply',
    title: 'Apply an approved plan',
    description:
      'Send exactly the changes of a saved plan that a person has approved with "edgewise plan ' +
      'approve". It takes only the digest that the approval prints. Without an approval, or if ' +
      'anything has changed since the plan was made, nothing is sent: ask the person.',
    properties: {
      digest: {
        type: 'string',
        pattern: '^[0-9a-f]{64}$',
        description: 'SHA-256 of the plan file, as "edgewise plan approve" prints it.',
      },
    },
    required: ['digest'],
    calls: true,
    writes: true,
    run: async (call, { digest }) => {
      const { workspace, outside } = call.connect()
      if (hashRules(workspace, folder) !== rules)
        throw new EdgewiseError(
          'usage',
          'edgewise.yaml or a policy differs from when this server started',
          'A person looks at the files, and starts the server again.',
        )
      const { text, approval } = findPlan(plans, folder, digest)
      const by = checkApproval(approval, digest, keys, io.clock.now())
      await refusePrograms(workspace, io)
      await refuseUsed((await loadState(workspace, io)).store, digest)
      const ports = { user: `${by} ${markApproved(digest)}`, signal: outside.signal }
      const { notes, ...outcome } = await applyPlan(context, workspace, text, ports)
      return { answer: { format: 'edgewise.applied/1', plan: digest, by, ...outcome }, notes }
    },
  })
}

/**
 * Refuses a start with which an assistant, who may see the environment of this process and edit the
 * checkout, could approve plans.
 */
function refuseReachableKeys(env: Io['env'], approver: string, folder: string): void {
  const isKey = (name: string, value: string) => name === keyVariable || hasPrivateKey(value)
  const found = Object.entries(env).find(([name, value = '']) => value !== '' && isKey(name, value))
  const fault =
    found !== undefined
      ? `the variable ${found[0]} has a private key, which the assistant could approve plans with`
      : isInside(folder, approver)
        ? `the file of --approver, ${approver}, lies in the checkout: an assistant may edit it`
        : null
  const hint =
    'Keep keys where only people who approve can use them; see docs/guides/assistants.md.'
  if (fault !== null) throw new EdgewiseError('usage', fault, hint)
}

/** Hashes what decides about an apply beside the plan: the workspace file, and the policies. */
function hashRules({ root, config, policyFiles }: Policed, folder: string): string {
  const texts = policyFiles.map((path) => [path, loadFile(join(root, path), path, '', folder)])
  return createHash('sha256')
    .update(JSON.stringify([config, texts]))
    .digest('hex')
}

/** Finds the plan of a digest, and the text of its approval. */
function findPlan(plans: string, folder: string, digest: string) {
  const approvals = listFileNames(plans).filter((name) => name.endsWith(approvalEnding))
  for (const name of approvals.slice(0, maxPlans)) {
    const path = join(plans, name)
    const text = loadIfPossible(path.slice(0, -approvalEnding.length), folder)
    if (text === null || digestPlan(text) !== digest) continue
    return { text, approval: loadFile(path, 'the approval', '', folder) }
  }
  throw createRefusal(`no approved plan in ${plans} has this digest`)
}

/** Loads a file; null for what can't be loaded, such as a link out of the checkout. */
function loadIfPossible(path: string, folder: string): string | null {
  try {
    return loadFile(path, path, '', folder)
  } catch (error) {
    if (error instanceof EdgewiseError) return null
    throw error
  }
}

/** Refuses policies that are programs: they lie in the checkout, and would run here. */
async function refusePrograms(workspace: Policed, io: Io): Promise<void> {
  const programs = (await openPolicies(workspace, io))?.programs ?? []
  if (programs.length > 0)
    throw createRefusal('policies of this workspace are programs, which no assistant may start')
}

/** Applies a plan as `edgewise apply PLANFILE --no-wait` does, in the name of who approved it. */
async function applyPlan(
  context: CommandContext,
  workspace: LoadedWorkspace,
  planFile: string,
  ports: Pick<Io, 'user' | 'signal'>,
) {
  const notes: string[] = []
  const problems: object[] = []
  const listen = (event: ApplyEvent) => {
    if (/^(?:write|part)\.(?:refused|in-doubt|not-sent)$|^rollout/.test(event.type))
      problems.push(event)
  }
  const env = { ...context.io.env, GITHUB_ACTOR: undefined, GITLAB_USER_LOGIN: undefined }
  const note = (text: string) => void notes.push(text)
  const io = { ...context.io, ...ports, env, note, out: () => undefined, err: note }
  const options = { json: true }
  const quiet = { ...context, io, options, note, paint: plainPaint, errPaint: plainPaint }
  // With JSON it consents to nothing but the plan, and prints no text.
  const dialogue = createTerminalDialogue(quiet)
  const request = { planFile, suspends: true }
  const { executed } = await executeAndFinish(quiet, workspace, io, (outside) =>
    apply(workspace, request, { outside, dialogue, listeners: [listen] }),
  )
  const { confirmed, refused, inDoubt, notSent } = executed.result
  return {
    status: findStatus(executed),
    apply: executed.finished?.apply ?? null,
    writes: { confirmed, refused, inDoubt, notSent },
    problems: problems.slice(0, maxListed),
    notes: notes.slice(0, maxListed),
  }
}
