/**
 * Prints the rooms of `src` from top to bottom, with their imports, files and lines. Reports
 * forbidden imports, pure rooms that use the outside world, and import cycles (exit code 1). With
 * --picture it draws the house into docs/architecture.md.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { fileURLToPath } from 'node:url'

/** The rooms that each room may import: only rooms below it. */
const allowed: Record<string, string[]> = {
  action: ['files', 'model'],
  cli: [
    'server',
    'metrics',
    'tracing',
    'notify',
    'operations',
    'apply',
    'report',
    'manifest',
    'state',
    'service',
    'emulator',
    'catalog',
    'files',
    'model',
  ],
  server: [
    'metrics',
    'notify',
    'operations',
    'rollout',
    'apply',
    'report',
    'manifest',
    'state',
    'service',
    'files',
    'model',
  ],
  'index.ts': ['operations', 'apply', 'model'],
  metrics: ['state', 'model'],
  tracing: ['model'],
  notify: ['operations', 'report', 'manifest', 'state', 'service', 'model'],
  operations: [
    'apply',
    'rollout',
    'plan',
    'diff',
    'manifest',
    'state',
    'service',
    'report',
    'emulator',
    'catalog',
    'files',
    'model',
  ],
  rollout: ['apply', 'health', 'plan', 'diff', 'state', 'service', 'model'],
  apply: ['state', 'service', 'catalog', 'model'],
  health: ['model'],
  plan: ['catalog', 'model', 'generated'],
  diff: ['catalog', 'model'],
  manifest: ['catalog', 'files', 'model', 'generated'],
  state: ['files', 'model', 'generated'],
  service: ['model'],
  report: ['catalog', 'model', 'generated'],
  page: ['model'],
  emulator: ['catalog', 'files', 'model'],
  catalog: ['model', 'generated'],
  generated: ['model'],
  files: ['model'],
  model: [],
}
/** Pure rooms: values in, values out. */
const pure = ['health', 'plan', 'diff', 'report', 'catalog', 'model']
/** Names of Node's modules without an effect, which pure rooms may import. */
const allowedNodeNames: Record<string, string[]> = {
  'node:crypto': ['createHash'],
  'node:net': ['isIP', 'isIPv4'],
}

/**
 * The files that start programs. Git is started by three: a process of git without a place finds a
 * repository by itself, perhaps one that a commit has brought.
 */
const starters: Record<string, string[]> = {
  'state/git/detached-git.ts': ['node:child_process'],
  'state/git/library-git.ts': ['simple-git'],
  'state/git/open-place.ts': ['node:child_process'],
  'state/folder/sync-file-system.ts': ['node:child_process'],
  'manifest/secret-command.ts': ['node:child_process'],
  'operations/observe.ts': ['node:child_process'],
  'action/run-program.ts': ['node:child_process'],
  'cli/own-process.ts': ['node:child_process'],
}

/** The only room that may use the file system. */
const roomOfFiles = 'files'
/** Files and folders that still use the file system themselves. To be emptied; add nothing. */
const notConverted = [
  'cli/own-page.ts',
  'cli/serve.ts',
  'server/branch.ts',
  'server/clone.ts',
  'server/process-folder.ts',
]

/** Libraries with only a default export, which can be imported lazily. */
const defaultOnly = ['highs']

const src = new URL('../src/', import.meta.url)

/** A folder of `src`, with the number of its imports from each other folder. */
export interface Room {
  name: string
  files: number
  lines: number
  imports: Map<string, number>
}

/** Inspects the sources: the rooms, and every import or use that the table does not allow. */
export function inspect(): { rooms: Room[]; faults: string[] } {
  const faults: string[] = []
  const unconverted = new Set<string>()
  const fileImports = new Map<string, string[]>()
  const rooms = new Map(
    Object.keys(allowed).map((name) => [
      name,
      { name, files: 0, lines: 0, imports: new Map<string, number>() },
    ]),
  )
  for (const path of listSourceFiles()) {
    const text = readFileSync(new URL(path, src), 'utf8')
    const name = findRoom(path)
    const room = rooms.get(name)
    if (room === undefined) {
      faults.push(`src/${path}: unknown room "${name}"; add it to the table in tools/house.ts`)
      continue
    }
    room.files++
    room.lines += text.split('\n').length - 1
    const targets = parseImports(text)
    const relativeTargets = targets.filter((target) => target.startsWith('.'))
    fileImports.set(
      path,
      relativeTargets.map((target) => new URL(target, new URL(path, 'file:///')).pathname.slice(1)),
    )
    for (const target of targets) {
      const other = target.startsWith('.')
        ? findRoom(new URL(target, new URL(path, 'file:///')).pathname.slice(1))
        : null
      if (other !== null && other !== name) {
        room.imports.set(other, (room.imports.get(other) ?? 0) + 1)
        if (!allowed[name]?.includes(other))
          faults.push(`src/${path}: ${name} may not import ${other}`)
      }
    }
    for (const module of listStarts(text))
      if (!starters[path]?.includes(module))
        faults.push(`src/${path}: only the starters in tools/house.ts may import ${module}`)
    for (const library of listLazyLibraries(text)) {
      faults.push(
        `src/${path}: the built program can't import names of "${library}" lazily; ` +
          'import them in a separate module, and import that module lazily',
      )
    }
    const uses = name === roomOfFiles ? [] : listFileUses(text)
    const exempt = notConverted.find((each) => path.startsWith(each))
    if (exempt === undefined)
      for (const use of uses)
        faults.push(`src/${path}: only ${roomOfFiles} may ${use}; use its functions`)
    else if (uses.length > 0) unconverted.add(exempt)
    if (pure.includes(name))
      for (const impurity of listImpurities(text))
        faults.push(`src/${path}: ${name} is pure and may not ${impurity}`)
  }
  for (const path of notConverted)
    if (!unconverted.has(path))
      faults.push(`src/${path}: does without the file system; remove it from notConverted`)
  for (const cycle of findCycles(fileImports))
    faults.push(`src/${cycle.join(', src/')}: these files form an import cycle`)
  return { rooms: [...rooms.values()], faults }
}

/** Ways to get a module of Node other than an import whose text names it. */
const hiddenImports = new RegExp(
  [
    String.raw`\b(?:getBuiltinModule|createRequire|mainModule|_load)\b`,
    String.raw`\bprocess\s*(?:\?\.|\.)\s*binding\b`,
    String.raw`\b(?:require|import)\s*\((?!\s*(['"])[^'"\n]+\1\s*[),])`,
  ].join('|'),
  'g',
)

/** Lists the uses of the file system in a source text, comments left out. */
export function listFileUses(text: string): string[] {
  // A text such as 'a/*.yaml' begins no comment, so only whole lines are left out.
  const code = text.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '')
  const modules = parseImports(code).filter((target) => /^(?:node:)?fs(?:\/|$)/.test(target))
  return [
    ...modules.map((target) => `import ${target}`),
    ...new Set((code.match(hiddenImports) ?? []).map((use) => `use ${use}`)),
  ]
}

/** Clock, timers, randomness, console, network and process, which need no import. */
const globals = new RegExp(
  [
    String.raw`\b(?:console|process|performance|crypto)\.`,
    String.raw`\b(?:Date\.now|Math\.random|fetch|setTimeout|setInterval|setImmediate)\(`,
    String.raw`\bnew Date\(\)`,
  ].join('|'),
  'g',
)

/** Lists the uses of the outside world in a source text: what a pure room may not do. */
export function listImpurities(text: string): string[] {
  const modules = parseImports(text).filter((target) => {
    const names = new RegExp(`import \\{([^}]*)\\} from '${target}'`).exec(text)?.[1]?.split(',')
    const allowedNames = allowedNodeNames[target] ?? []
    return (
      isBuiltin(target) && !(names ?? ['*']).every((name) => allowedNames.includes(name.trim()))
    )
  })
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
  const uses = code.match(globals) ?? []
  return [
    ...modules.map((target) => `import ${target}`),
    ...new Set(uses.map((use) => `use ${use}`)),
  ]
}

/** Lists the imported modules that start programs. */
export function listStarts(text: string): string[] {
  const named = [...text.matchAll(/getBuiltinModule\(\s*['"]([^'"]+)['"]/g)].map(([, name]) => name)
  return [...parseImports(text), ...named].flatMap((target) =>
    /^(node:)?(child_process|cluster)$|^(simple-git|execa|cross-spawn)$/.test(target ?? '')
      ? (target ?? [])
      : [],
  )
}

/** Finds import cycles, type imports included (strongly connected components by Tarjan). */
function findCycles(imports: ReadonlyMap<string, string[]>): string[][] {
  const [index, low] = [new Map<string, number>(), new Map<string, number>()]
  const stack: string[] = []
  const cycles: string[][] = []
  const visit = (file: string): void => {
    index.set(file, index.size)
    low.set(file, index.size - 1)
    stack.push(file)
    for (const next of imports.get(file) ?? []) {
      if (!index.has(next)) visit(next)
      const known = stack.includes(next)
        ? Math.min(low.get(next) ?? 0, index.get(next) ?? 0)
        : Infinity
      low.set(file, Math.min(low.get(file) ?? 0, known))
    }
    if (low.get(file) !== index.get(file)) return
    const component = stack.splice(stack.indexOf(file))
    if (component.length > 1) cycles.push(component.toSorted())
  }
  for (const file of imports.keys()) if (!index.has(file)) visit(file)
  return cycles
}

/** Lists lazily imported libraries; a bundled CommonJS library has only a default export then. */
function listLazyLibraries(text: string): string[] {
  return [...text.matchAll(/\bimport\(\s*'([^'.][^']*)'\s*\)/g)]
    .map((match) => match[1] ?? '')
    .filter((library) => !library.startsWith('node:') && !defaultOnly.includes(library))
}

function listSourceFiles(): string[] {
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.ts'))
    .toSorted()
}

function findRoom(path: string): string {
  return path.split('/')[0] ?? path
}

function parseImports(text: string): string[] {
  return [...text.matchAll(/\b(?:from\s*|import\s*\(?\s*|require\(\s*)(['"])([^'"\n]+)\1/g)].map(
    (match) => match[2] ?? '',
  )
}

/** Rooms that nearly all others import: arrows to them would clutter the picture. */
const commonRooms = ['model', 'generated', 'catalog', 'report']

/** Draws the rooms and their imports as a Mermaid flow chart. */
export function drawHouse(rooms: Room[]): string {
  const arrows = rooms.flatMap(({ name, imports }) =>
    [...imports.keys()]
      .filter((other) => !commonRooms.includes(other))
      .map((other) => `  ${name} --> ${other}`),
  )
  return ['```mermaid', 'flowchart TD', ...arrows.toSorted(), '```'].join('\n')
}

const picturePage = new URL('../docs/architecture.md', import.meta.url)
const picturePattern = /(<!-- picture -->\n)[\s\S]*?(<!-- \/picture -->)/

/** Renders the architecture page: as it is now, and with the picture drawn from the imports. */
export function renderPage(rooms: Room[]): { now: string; drawn: string } {
  const now = readFileSync(picturePage, 'utf8')
  return { now, drawn: now.replace(picturePattern, `$1\n${drawHouse(rooms)}\n\n$2`) }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { rooms, faults } = inspect()
  if (process.argv.includes('--picture')) writeFileSync(picturePage, renderPage(rooms).drawn)
  for (const { name, files, lines, imports } of rooms) {
    const list = [...imports].map(([other, count]) => `${other} ${count}`).join(', ')
    console.log(
      `${name.padEnd(10)} ${String(files).padStart(3)} files ` +
        `${String(lines).padStart(6)} lines   ` +
        (list === '' ? 'imports nothing' : `imports ${list}`),
    )
  }
  for (const fault of faults) console.error(fault)
  if (faults.length > 0) process.exitCode = 1
}
