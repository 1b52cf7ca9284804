import { createUnwrittenError } from '../../files/explain-failure.ts'
import { join, relative, resolve, basename, sep } from 'node:path'
import { isInside } from '../../files/is-inside.ts'
import { refuseLinkIn } from '../../files/find-link.ts'
import { exists, isLink, findRealPath } from '../../files/look.ts'
import { writeFiles } from '../../files/write-files.ts'
import { findRoot, workspaceFile } from '../../manifest/workspace-file/find-root.ts'
import { findSchema, addSchemaLine, schemaName } from '../../manifest/yaml/schema-line.ts'
import { EdgewiseError, throwDefect } from '../../core/model/edgewise-error.ts'
import { findCheckout, findRepository } from '../../state/git/find-repository.ts'
import { loadFile } from '../load-file.ts'
import type { CommandContext } from '../io.ts'
import { parseChoice, type InitOptions } from './choose-pin.ts'
import { planWorkflow } from './workflows.ts'
import { quotePath, formatScalar, loadContent } from './find-placement.ts'
import { readPackageFile } from '../package-files.ts'
import { createLister } from '../../files/list-below.ts'
import { maxListed } from '../../files/list-names.ts'
import { escapeInvisible } from '../../outlets/report/text/escape-invisible.ts'
import { buildPlainName } from '../../state/format/state-paths.ts'
import { splitLines } from '../../state/git/git-command.ts'
import { buildGitEnvironment } from '../../state/git/git-environment.ts'
import { openPlace } from '../../state/git/open-place.ts'

const exampleCommand = 'edgewise init --ci github --action OWNER/REPO@SHA'

/**
 * `edgewise init`: creates a workspace that can be validated, planned and applied (to the emulator)
 * at once. Writes a workflow only if told what it runs, also into an existing workspace. Replaces
 * no file.
 */
export async function init(
  context: CommandContext,
  [dir]: unknown[],
  options: InitOptions,
): Promise<void> {
  const { io } = context
  const chosen = parseChoice(options)
  const start = resolve(io.cwd, context.options.workspace ?? '.', String(dir ?? '.'))
  const checkout = findCheckout(io.cwd)
  if (checkout !== null) refuseLinkIn(checkout, start)
  const addsWorkflow = chosen !== null && chosen !== undefined
  const root = (addsWorkflow && dir === undefined ? findRoot(start) : null) ?? start
  const isNew = !exists(join(root, workspaceFile))
  if (!isNew && !addsWorkflow)
    throw createExistsError(
      [workspaceFile],
      `Choose an empty folder: edgewise init DIR. To add a workflow: ${exampleCommand}`,
    )
  const top = findRepository(root)?.workTree ?? null
  const { id, reason } = isNew ? await chooseId(root, top, io.env) : { id: '', reason: null }
  const initial = isNew ? placeFiles(root, buildInitialFiles(id, findSchema(root))) : []
  refuseExisting(initial, 'Choose an empty folder: edgewise init DIR.')
  const workflow = chosen ? await planWorkflow(chosen, root, io.env) : null
  const added = workflow === null ? [] : placeFiles(workflow.top, workflow.files)
  refuseExisting(added, 'To replace a workflow, remove it first; or change the hash in it.')
  for (const file of [...initial, ...added]) writeFile(context, file)

  const notes = [
    ...(reason === null ? [] : [`The id of this workspace is "${id}": ${reason}.\n`]),
    ...(workflow === null ? [] : [workflow.note]),
    ...(isNew ? [formatNextSteps(relative(io.cwd, root), top !== null)] : []),
    ...(chosen === undefined ? [`To add a workflow: ${exampleCommand}\n`] : []),
  ]
  io.out(notes.map((note) => `\n${note}`).join(''))
}

/** File to write. */
interface NewFile {
  /** Path from the workspace or the repository, for messages. */
  path: string
  /** Folder of the workspace or the repository. */
  folder: string
  target: string
  text: string
}

function placeFiles(folder: string, texts: Record<string, string>): NewFile[] {
  return Object.entries(texts).map(([path, text]) => ({
    path,
    folder,
    target: join(folder, path),
    text,
  }))
}

/**
 * Refuses to replace files, and to write through links to outside; missing lines are added to an
 * existing `.gitignore`.
 */
function refuseExisting(files: NewFile[], hint: string): void {
  const outside = files.find(({ folder, target }) => !isInside(folder, target))
  if (outside !== undefined)
    throw new EdgewiseError(
      'usage',
      `${outside.target} leads out of ${outside.folder} through a link; nothing was written`,
      'Remove the link.',
    )
  const existing = files
    .filter(({ path, target }) => path !== '.gitignore' && (exists(target) || isLink(target)))
    .map(({ path }) => path)
  if (existing.length > 0) throw createExistsError(existing, hint)
}

function createExistsError(paths: string[], hint: string): EdgewiseError {
  const verb = paths.length === 1 ? 'exists' : 'exist'
  return new EdgewiseError(
    'usage',
    `${paths.join(', ')} already ${verb}; nothing was written`,
    hint,
  )
}

function writeFile({ io }: CommandContext, { path, folder, target, text }: NewFile): void {
  const before = path === '.gitignore' && exists(target) ? loadFile(target) : null
  const file = { path: target, text: before === null ? text : addLines(before, text), before }
  const failure = writeFiles(folder, [file], io.machine.processName)
  if (failure !== null) throw createUnwrittenError(target, failure.code)
  io.out(`wrote ${relative(io.cwd, target) || target}\n`)
}

function formatNextSteps(folder: string, isInRepository: boolean): string {
  const enter = folder === '' ? '' : `  cd ${quotePath(folder)}\n`
  const git = isInRepository ? '' : '  git init    # without it, state is stored in a folder\n'
  const commands = ['validate', 'test', 'plan', 'apply'].map((name) => `  edgewise ${name}\n`)
  return `Next:\n${enter}${git}${commands.join('')}`
}

/** Appends the lines that a text lacks. */
function addLines(before: string, text: string): string {
  const lines = new Set(before.split(/\r?\n/))
  const missing = text.split('\n').filter((line) => line !== '' && !lines.has(line))
  if (missing.length === 0) return before
  return `${before}${before === '' || before.endsWith('\n') ? '' : '\n'}${missing.join('\n')}\n`
}

/**
 * Builds the files of a new workspace, by path. It includes the schema, so that editors need no
 * network.
 *
 * @param id of the workspace
 * @param schema path of a schema that the workspace shares with others; null if there is none
 */
function buildInitialFiles(id: string, schema: string | null): Record<string, string> {
  const texts = {
    'edgewise.yaml': buildWorkspace(id),
    'domains/www.example.com.yaml': manifest,
    'profiles/baseline.yaml': profile,
    'tests/www.example.com.yaml': test,
  }
  const files = Object.entries(texts).map(([path, text]) => {
    return [path, addSchemaLine({ path, text }, schema ?? schemaName).text]
  })
  return {
    ...(Object.fromEntries(files) as Record<string, string>),
    '.gitignore': '.edgewise/\n',
    ...(schema === null ? { [schemaName]: readPackageFile(`schemas/${schemaName}`) } : {}),
  }
}

const buildWorkspace = (id: string) => `version: 1
id: ${formatScalar(id)}
service:
  # "emulator" runs on this machine. For the real service, set its address here
  # and EDGEWISE_TOKEN in the environment.
  url: emulator
  token: \${env:EDGEWISE_TOKEN}
# State is on the branch edgewise-state, pushed to origin;
# outside a git repository in .edgewise/state.
grouping: {groups: all, together: [[origin, origin_host, new_origin]]}
`

const manifest = `domain: www.example.com
profiles: [baseline]
config:
  origin: {default_master: [192.0.2.10, 192.0.2.11], origin_mode: https}
  origin_host: {host: origin.example.com}
`

const profile = `profile: baseline
config:
  https: {cert_id: 1001, http2: on, force_https: 301}
  compress_response:
    content_type: [text/html, text/css, application/javascript]
    min_size: 1
    min_size_unit: KB
`

const test = `test: pages come from the origin, over https
domains: [www.example.com]
assume: {unmanaged: absent} # items that no manifest mentions are not set
requests:
  - url: http://www.example.com/
    expect: {redirect.status: 301}
  - url: https://www.example.com/
    expect: {access.decision: allowed, origin.host: origin.example.com}
emulator: accepts
`

type Environment = Record<string, string | undefined>

/** Id of a new workspace, and the reason if it is not the usual one. */
interface ChosenId {
  id: string
  reason: string | null
}

const usual = 'default'

/** Refs of the usual state branch: of this clone, as last fetched by Edgewise, and by git. */
const stateRefs = [
  'refs/heads/edgewise-state',
  'refs/edgewise/fetched/origin/heads/edgewise-state',
  'refs/remotes/origin/edgewise-state',
]

/**
 * Chooses an id that no other workspace of the repository has: state is kept by id, so two with
 * the same one would release each other's items.
 *
 * @param root folder of the new workspace, which need not exist
 * @param top top folder of its repository; null without one
 */
async function chooseId(root: string, top: string | null, env: Environment): Promise<ChosenId> {
  if (top === null) return { id: usual, reason: null }
  const users = new Map(await listRecorded(top, env))
  let cut: string | null = null
  const onCut = () => {
    const count = maxListed.toLocaleString('en')
    cut = `only the first ${count} files were searched for other workspaces`
  }
  for (const [id, path] of listWorkspaces(findRealPath(top), onCut)) users.set(id, path)
  const user = users.get(usual)
  if (user === undefined) return { id: usual, reason: cut }
  const words = basename(root).split(/[^A-Za-z0-9_]/)
  const named = words
    .filter((word) => word !== '')
    .join('-')
    .slice(0, 60)
  const base = named === '' ? 'workspace' : named
  let id = base
  for (let number = 2; users.has(buildPlainName(id)); number++) id = `${base}-${number}`
  return { id, reason: `"${usual}" is that of ${escapeInvisible(user)}` }
}

/**
 * Lists the workspaces below a folder by the name of their state, tracked by git or not.
 *
 * @param onCut called if there are too many files to look at all of them
 */
function listWorkspaces(top: string, onCut: () => void): [string, string][] {
  const found: [string, string][] = []
  const list = createLister(top, ({ kind }) => {
    if (kind === 'too-many') onCut()
  })
  const search = (folder: string) => {
    for (const entry of list(folder)) {
      const path = join(folder, entry.name)
      if (entry.name === workspaceFile && entry.isFile()) {
        const { id = usual } = loadContent(folder)
        const name = relative(top, path).replaceAll(sep, '/')
        if (typeof id === 'string') found.push([buildPlainName(id), name])
      }
      if (entry.isDirectory() && !skipped.has(entry.name)) search(path)
    }
  }
  search(top)
  return found
}

const skipped = new Set(['.git', '.edgewise', 'node_modules'])

/** Lists what the usual state branch has, as this clone knows it: the names of its workspaces. */
async function listRecorded(top: string, env: Environment): Promise<[string, string][]> {
  const gitEnv = buildGitEnvironment(env, env['EDGEWISE_TOKEN'] ?? '')
  try {
    const place = openPlace(top, gitEnv)
    if (place === null) return []
    const { createLibraryGit } = await import('../../state/git/library-git.ts')
    const git = createLibraryGit(place, gitEnv)
    const listed = await Promise.all(
      stateRefs.map((ref) => git(['ls-tree', '-d', '--name-only', ref])),
    )
    return listed.flatMap(({ code, out }) =>
      code === 0 ? splitLines(out).map((id): [string, string] => [id, 'recorded state']) : [],
    )
  } catch (error) {
    // Without git, or in the repository of another user, only the files count.
    throwDefect(error)
    return []
  }
}
