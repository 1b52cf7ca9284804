import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { EdgewiseError } from '../../model/edgewise-error.ts'
import { exitCodes } from '../exit-codes.ts'
import { buildInitialFiles } from './initial-files.ts'
import { buildWorkflow, parseAction, type PinnedAction } from './initial-workflow.ts'
import type { CommandContext } from '../io.ts'

interface InitOptions {
  /** What the workflow runs: `OWNER/REPO@SHA`. */
  action?: string
}

const workspacePath = 'edgewise.yaml'
const workflowPath = '.github/workflows/edgewise.yml'

/**
 * `edgewise init`: writes a workspace that validates, plans and applies (to the emulator) as it
 * stands. A workflow is written only with `--action`, also into a workspace that is there already.
 */
export async function init(
  context: CommandContext,
  [dir]: unknown[],
  { action }: InitOptions,
): Promise<number> {
  const { io } = context
  const folder = String(dir ?? '.')
  const root = resolve(io.cwd, context.options.workspace ?? '.', folder)
  const workflow = action === undefined ? null : buildWorkflow(pinnedAction(action))
  const isThere = workflow !== null && existsSync(join(root, workspacePath))
  writeFiles(context, root, {
    ...(isThere ? {} : buildInitialFiles()),
    ...(workflow === null ? {} : { [workflowPath]: workflow }),
  })
  if (isThere) return exitCodes.done
  if (workflow === null) {
    const command = `edgewise init ${folder === '.' ? '' : `${folder} `}--action OWNER/REPO@SHA`
    io.out(`\nNo workflow was written; "${command}" writes one.\n`)
  }
  const there = relative(io.cwd, root)
  const enter = there === '' ? '' : `  cd ${there}\n`
  io.out(`\nNext:\n${enter}  edgewise validate\n  edgewise plan\n  edgewise apply\n`)
  return exitCodes.done
}

function pinnedAction(text: string): PinnedAction {
  const action = parseAction(text)
  if (action !== null) return action
  throw new EdgewiseError(
    'usage',
    `--action: expected OWNER/REPO@SHA, where SHA is a commit of 40 hex digits, got "${text}"`,
    'A tag or a branch can be moved to other code, which would then run with the right to write; ' +
      'a commit stays what it is. "git rev-parse TAG^{commit}" prints the commit of a tag.',
  )
}

/** Writes files, by path; none where one of them is there already. */
function writeFiles({ io }: CommandContext, root: string, texts: Record<string, string>): void {
  const files = Object.entries(texts)
  const taken = files
    .map(([path]) => path)
    .filter((path) => path !== '.gitignore' && existsSync(join(root, path)))
  if (taken.length > 0) {
    throw new EdgewiseError(
      'usage',
      `${taken.join(', ')} ${taken.length === 1 ? 'is' : 'are'} already there; nothing was written`,
      taken.includes(workflowPath)
        ? 'Remove the workflow first, or change the commits in it.'
        : 'Choose an empty folder: edgewise init DIR.',
    )
  }
  for (const [path, text] of files) {
    const target = join(root, path)
    mkdirSync(dirname(target), { recursive: true })
    if (path === '.gitignore') addLines(target, text)
    else writeFileSync(target, text, { flag: 'wx' })
    io.out(`wrote ${relative(io.cwd, target) || target}\n`)
  }
}

/** Adds the lines that a file does not have yet. */
function addLines(path: string, text: string): void {
  const before = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const have = new Set(before.split(/\r?\n/))
  const missing = text.split('\n').filter((line) => line !== '' && !have.has(line))
  if (missing.length > 0)
    writeFileSync(
      path,
      `${before}${before === '' || before.endsWith('\n') ? '' : '\n'}${missing.join('\n')}\n`,
    )
}
