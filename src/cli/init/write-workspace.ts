import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { EdgewiseError } from '../../model/edgewise-error.ts'
import { exitCodes } from '../exit-codes.ts'
import { loadFile } from '../load-file.ts'
import { buildInitialFiles } from './initial-files.ts'
import { buildWorkflow, parseAction, type PinnedAction } from './initial-workflow.ts'
import type { CommandContext } from '../io.ts'

interface InitOptions {
  /** Repository and commit that the workflow runs: `OWNER/REPO@SHA`. */
  action?: string
}

const workspacePath = 'edgewise.yaml'
const workflowPath = '.github/workflows/edgewise.yml'

/**
 * `edgewise init`: creates a workspace that can be validated, planned and applied (to the emulator)
 * at once. Writes a workflow only with `--action`, also into an existing workspace.
 */
export async function init(
  context: CommandContext,
  [dir]: unknown[],
  { action }: InitOptions,
): Promise<number> {
  const { io } = context
  const folder = String(dir ?? '.')
  const root = resolve(io.cwd, context.options.workspace ?? '.', folder)
  const workflow = action === undefined ? null : buildWorkflow(requireAction(action))
  const workspaceExists = workflow !== null && existsSync(join(root, workspacePath))
  writeFiles(context, root, {
    ...(workspaceExists ? {} : buildInitialFiles()),
    ...(workflow === null ? {} : { [workflowPath]: workflow }),
  })
  if (workspaceExists) return exitCodes.done
  if (workflow === null) {
    const command = `edgewise init ${folder === '.' ? '' : `${folder} `}--action OWNER/REPO@SHA`
    io.out(`\nNo workflow was written; "${command}" writes one.\n`)
  }
  const folderFromCwd = relative(io.cwd, root)
  const enter = folderFromCwd === '' ? '' : `  cd ${folderFromCwd}\n`
  io.out(`\nNext:\n${enter}  edgewise validate\n  edgewise plan\n  edgewise apply\n`)
  return exitCodes.done
}

function requireAction(text: string): PinnedAction {
  const action = parseAction(text)
  if (action !== null) return action
  throw new EdgewiseError(
    'usage',
    `--action: expected OWNER/REPO@SHA, where SHA is a commit of 40 hex digits, got "${text}"`,
    'A tag or a branch can be moved to other code, which would then run with write permission; ' +
      'a commit can not. "git rev-parse TAG^{commit}" prints the commit of a tag.',
  )
}

/** Writes files, by path; writes none if one of them exists. */
function writeFiles({ io }: CommandContext, root: string, texts: Record<string, string>): void {
  const files = Object.entries(texts)
  const existing = files
    .map(([path]) => path)
    .filter((path) => path !== '.gitignore' && existsSync(join(root, path)))
  if (existing.length > 0) {
    throw new EdgewiseError(
      'usage',
      `${existing.join(', ')} already ${existing.length === 1 ? 'exists' : 'exist'}; ` +
        'nothing was written',
      existing.includes(workflowPath)
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

/** Appends the lines that a file lacks. */
function addLines(path: string, text: string): void {
  const before = existsSync(path) ? loadFile(path) : ''
  const lines = new Set(before.split(/\r?\n/))
  const missing = text.split('\n').filter((line) => line !== '' && !lines.has(line))
  if (missing.length > 0)
    writeFileSync(
      path,
      `${before}${before === '' || before.endsWith('\n') ? '' : '\n'}${missing.join('\n')}\n`,
    )
}
