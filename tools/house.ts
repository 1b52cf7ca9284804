/**
 * Prints the rooms of `src` from top to bottom, with their files and imports.
 * Reports forbidden imports, pure rooms that use the outside world, and too many names or files in
 * one folder (exit code 1). The linter reports import cycles.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { fileURLToPath } from 'node:url'

/** The rooms that each room may import: only rooms below it. */
const allowed: Record<string, string> = {
  'cli/action': 'files core/model',
  'cli/mcp':
    'cli operations outlets/report manifest state service core/trace core/catalog files core/model',
  'cli/lsp':
    'operations outlets/report manifest core/checks core/rule-lists core/catalog files ' +
    'core/model',
  cli:
    'cli/mcp cli/lsp server outlets/metrics outlets/telemetry outlets/notify operations ' +
    'engine/apply outlets/report manifest state service emulator core/tests core/policy ' +
    'core/effects core/trace core/checks core/catalog files core/model',
  server:
    'outlets/metrics outlets/notify operations engine/rollout engine/apply outlets/report ' +
    'manifest state service files core/model',
  'index.ts': 'operations engine/apply core/tests core/trace core/model',
  'outlets/metrics': 'state core/model',
  'outlets/telemetry': 'core/model',
  'outlets/notify': 'operations outlets/report manifest state service core/model',
  operations:
    'engine/apply engine/rollout core/plan core/health core/diff core/policy core/tests ' +
    'core/effects core/trace core/checks core/rule-lists manifest state service ' +
    'outlets/report emulator core/catalog files core/model',
  'engine/rollout': 'engine/apply core/health core/plan core/diff state service core/model',
  'engine/apply': 'state service core/catalog core/model',
  manifest:
    'core/checks core/policy core/tests core/effects core/trace core/catalog files core/model',
  state: 'files core/model',
  service: 'core/model',
  'outlets/page': 'outlets/report core/effects core/trace core/model',
  'outlets/report':
    'core/policy core/tests core/effects core/trace core/checks core/catalog core/model',
  emulator: 'core/trace core/catalog files core/model',
  files: 'core/model',
  'core/plan': 'core/health core/catalog core/model',
  'core/health': 'core/model',
  'core/diff': 'core/catalog core/model',
  'core/checks': 'core/rule-lists core/catalog core/model',
  'core/rule-lists': 'core/effects core/trace core/catalog core/model',
  'core/tests': 'core/effects core/trace core/catalog core/model',
  'core/policy': 'core/trace core/catalog core/model',
  'core/effects': 'core/trace core/catalog core/model',
  'core/trace': 'core/catalog core/model',
  'core/catalog': 'core/model',
  'core/model': '',
}
/** Pure rooms: values in, values out. */
const pure = [
  'core/health',
  'core/plan',
  'core/diff',
  'core/rule-lists',
  'core/tests',
  'core/effects',
  'core/policy',
  'core/trace',
  'core/checks',
  'outlets/report',
  'core/catalog',
  'core/model',
]
/** Maximum number of names directly in `src`, and of files in one of its folders. */
const [maxNames, maxFiles] = [12, 25]
/** A folder of rows of one kind: a file a command. */
const rows = 'cli/commands'
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
  'manifest/secrets/run-command.ts': ['node:child_process'],
  'operations/observation/observe.ts': ['node:child_process'],
  'cli/action/run-program.ts': ['node:child_process'],
  'cli/own/own-process.ts': ['node:child_process'],
}

/**
 * The tools for agents, which only read: no file that they import, at any distance, may match one
 * of these. What stays within reach is the code of stores, and of the emulator inside the process:
 * `cli/mcp/read-only.ts` gives both nothing that writes. There is no exception.
 */
const readers = 'cli/mcp/'
/** Of the command line, they may import only what computes. */
const readableOfCli = [
  'explain/(?:describe-item|explain-json|explain-policy)',
  'queries/time-span',
  'requests/(?:assumptions|effects-request)',
  '(?:load-file|package-files)',
]
const writers: RegExp[] = [
  new RegExp(`^cli/(?!mcp/|(?:${readableOfCli.join('|')})\\.ts$)`),
  /^(?:server|outlets\/(?:notify|metrics|telemetry|page))\//,
  /^engine\/apply\//,
  /^engine\/rollout\/roll-out\./,
  /^service\/write\/(?:client|call-budget)\./,
  /^operations\/(?:apply|rollback|repair|rollouts|stop|prune|forget|migrate|unlock)\./,
  /^operations\/(?:fix|import|prefetch|refresh-traffic)\.|^operations\/import\//,
  /^operations\/submission\/(?:submit|execute|run-rollout|rollout-decisions|resolve-for-send)/,
  /^operations\/runtime\/(?:connect-to-write|lock-selection|with-lock|with-state|open)\./,
  /^operations\/testing\/record-tests\./,
  /^files\/(?:own-folder|replace-file|write-files|write-output)\./,
  /^state\/folder\/real-disk\./,
]

/** The only room that may use the file system. */
const roomOfFiles = 'files'
/** Files and folders that still use the file system themselves. To be emptied; add nothing. */
const notConverted = [
  'cli/own/own-page.ts',
  'cli/serve.ts',
  'server/branch/branch.ts',
  'server/branch/clone.ts',
  'server/branch/process-folder.ts',
]

/** Libraries with only a default export, which can be imported lazily. */
const defaultOnly = ['highs']

const src = new URL('../src/', import.meta.url)

/** A room, with its files by hand, and the number of its imports from each other room. */
interface Room {
  name: string
  files: number
  imports: Map<string, number>
}

/** Inspects the sources: the rooms, and every import or use that the table does not allow. */
export function inspect(): { rooms: Room[]; faults: string[] } {
  const faults: string[] = []
  const unconverted = new Set<string>()
  const rooms = new Map(
    Object.keys(allowed).map((name) => [
      name,
      { name, files: 0, imports: new Map<string, number>() },
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
    const isGenerated = path.includes('/generated/')
    if (!isGenerated) room.files++
    const targets = parseImports(text)
    for (const target of targets) {
      const other = target.startsWith('.')
        ? findRoom(new URL(target, new URL(path, 'file:///')).pathname.slice(1))
        : null
      if (other !== null && other !== name) {
        room.imports.set(other, (room.imports.get(other) ?? 0) + 1)
        if (!allowed[name]?.split(' ').includes(other))
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
    if (pure.includes(name) && !isGenerated)
      for (const impurity of listImpurities(text))
        faults.push(`src/${path}: ${name} is pure and may not ${impurity}`)
  }
  for (const path of notConverted)
    if (!unconverted.has(path))
      faults.push(`src/${path}: does without the file system; remove it from notConverted`)
  faults.push(...listReachedWriters(loadSources()))
  faults.push(...listCrowded(listSourceFiles().filter((path) => !path.includes('/generated/'))))
  return { rooms: [...rooms.values()], faults }
}

/** Loads the sources by their paths below `src`. */
export function loadSources(): Map<string, string> {
  return new Map(listSourceFiles().map((path) => [path, readFileSync(new URL(path, src), 'utf8')]))
}

/**
 * Lists the writers that the tools for agents import at any distance, each with a way to it.
 *
 * @param sources texts by their paths below `src`
 */
export function listReachedWriters(sources: ReadonlyMap<string, string>): string[] {
  const from = new Map<string, string | null>()
  const waiting = [...sources.keys()].filter((path) => path.startsWith(readers))
  for (const path of waiting) from.set(path, null)
  for (const path of waiting)
    for (const target of parseLoads(sources.get(path) ?? '')) {
      const other = new URL(target, new URL(path, 'file:///')).pathname.slice(1)
      if (!target.startsWith('.') || from.has(other)) continue
      from.set(other, path)
      waiting.push(other)
    }
  return waiting
    .filter((path) => writers.some((pattern) => pattern.test(path)))
    .map((path) => {
      const way = [path]
      for (let at = from.get(path); at != null; at = from.get(at)) way.push(at)
      return `src/${way.at(-1)}: tools for agents reach a writer: ${way.toReversed().join(' > ')}`
    })
}

/** Lists what a module loads, now or later: its imports without those of types only. */
function parseLoads(text: string): string[] {
  const code = text.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '')
  const typed =
    /\b(?:import|export)\s+(?:type\b[^'"]*?|\{(?:\s*type\s[^,}]*,?)*\s*\}\s*)from\s*(['"])[^'"]+\1/g
  return parseImports(code.replaceAll(typed, ''))
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

/** Finds the room of a file: the longest name in the table that its path begins with. */
function findRoom(path: string): string {
  const names = Object.keys(allowed).filter((name) => path === name || path.startsWith(`${name}/`))
  return names.toSorted((a, b) => b.length - a.length)[0] ?? path
}

/** Lists the folders with more names or files than somebody takes in at a glance. */
function listCrowded(paths: string[]): string[] {
  const names = new Set(paths.map((path) => path.split('/')[0]))
  const counts = new Map<string, number>()
  for (const path of paths) {
    const folder = path.replace(/\/?[^/]*$/, '')
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return [
    ...(names.size > maxNames ? [`src: ${names.size} names, of at most ${maxNames}`] : []),
    ...[...counts]
      .filter(([folder, count]) => count > maxFiles && folder !== rows)
      .map(([folder, count]) => `src/${folder}: ${count} files, of at most ${maxFiles}`),
  ]
}

function parseImports(text: string): string[] {
  return [...text.matchAll(/\b(?:from\s*|import\s*\(?\s*|require\(\s*)(['"])([^'"\n]+)\1/g)].map(
    (match) => match[2] ?? '',
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { rooms, faults } = inspect()
  for (const { name, files, imports } of rooms) {
    const list = [...imports].map(([other, count]) => `${other} ${count}`).join(', ')
    console.log(
      `${name.padEnd(15)} ${String(files).padStart(3)} files   ` +
        (list === '' ? 'imports nothing' : `imports ${list}`),
    )
  }
  for (const fault of faults) console.error(fault)
  if (faults.length > 0) process.exitCode = 1
}
