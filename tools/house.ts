/**
 * Prints who imports whom: the rooms of `src` from top to bottom, what each imports, its files and
 * lines. A room that imports one it may not, a thinking room that reaches for the world outside,
 * and files that import each other in a circle, are named (exit 1). With --picture it draws the
 * house into docs/architecture.md.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Which rooms each room may import: only rooms below it. */
const allowed: Record<string, string[]> = {
  cli: [
    'operations',
    'apply',
    'report',
    'manifest',
    'state',
    'service',
    'emulator',
    'catalog',
    'model',
  ],
  'index.ts': ['operations', 'apply', 'model'],
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
    'model',
  ],
  rollout: ['apply', 'health', 'plan', 'diff', 'state', 'service', 'model'],
  apply: ['state', 'service', 'catalog', 'model'],
  health: ['model'],
  plan: ['catalog', 'model', 'generated'],
  diff: ['catalog', 'model'],
  manifest: ['catalog', 'model', 'generated'],
  state: ['model', 'generated'],
  service: ['model'],
  report: ['model'],
  emulator: ['catalog', 'model'],
  catalog: ['model', 'generated'],
  generated: ['model'],
  model: [],
}
/** Rooms that take values and return values. */
const pure = ['health', 'plan', 'diff', 'report', 'catalog', 'model']
/** Node's modules without an effect: hashes, address syntax, text. */
const harmless = ['node:crypto', 'node:net', 'node:util']

/** Libraries that the built program finds beside itself. */
const unbundled = ['highs']

const src = new URL('../src/', import.meta.url)

/** A folder of `src`, and how often it imports each other one. */
export interface Room {
  name: string
  files: number
  lines: number
  imports: Map<string, number>
}

/** The rooms as they are, and every import or use that the table does not allow. */
export function inspect(): { rooms: Room[]; faults: string[] } {
  const faults: string[] = []
  const fileImports = new Map<string, string[]>()
  const rooms = new Map(
    Object.keys(allowed).map((name) => [
      name,
      { name, files: 0, lines: 0, imports: new Map<string, number>() },
    ]),
  )
  for (const path of sourceFiles()) {
    const text = readFileSync(new URL(path, src), 'utf8')
    const name = roomOf(path)
    const room = rooms.get(name)
    if (room === undefined) {
      faults.push(`src/${path}: there is no room "${name}"`)
      continue
    }
    room.files++
    room.lines += text.split('\n').length - 1
    const targets = importsOf(text)
    const inside = targets.filter((target) => target.startsWith('.'))
    fileImports.set(
      path,
      inside.map((target) => new URL(target, new URL(path, 'file:///')).pathname.slice(1)),
    )
    for (const target of targets) {
      const other = target.startsWith('.')
        ? roomOf(new URL(target, new URL(path, 'file:///')).pathname.slice(1))
        : null
      if (other !== null && other !== name) {
        room.imports.set(other, (room.imports.get(other) ?? 0) + 1)
        if (!allowed[name]?.includes(other))
          faults.push(`src/${path}: ${name} may not import ${other}`)
      }
      if (
        other === null &&
        pure.includes(name) &&
        target.startsWith('node:') &&
        !harmless.includes(target)
      ) {
        faults.push(`src/${path}: ${name} is pure and may not import ${target}`)
      }
    }
    for (const library of lazyLibraries(text)) {
      faults.push(
        `src/${path}: a built program knows no names of "${library}" here; import it by name in a module of its own, and that one lazily`,
      )
    }
    if (
      pure.includes(name) &&
      /\bconsole\.|\bDate\.now\(|\bMath\.random\(|\bprocess\.|\bfetch\(|new Date\(\)/.test(text)
    ) {
      faults.push(
        `src/${path}: ${name} is pure and may not use the clock, chance, console, network or process`,
      )
    }
  }
  for (const circle of circlesOf(fileImports))
    faults.push(`src/${circle.join(', src/')}: these files import each other in a circle`)
  return { rooms: [...rooms.values()], faults }
}

/**
 * Files that import each other in a circle, imports of types included (Tarjan's strongly connected
 * components).
 */
function circlesOf(imports: ReadonlyMap<string, string[]>): string[][] {
  const [index, low] = [new Map<string, number>(), new Map<string, number>()]
  const stack: string[] = []
  const circles: string[][] = []
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
    if (component.length > 1) circles.push(component.toSorted())
  }
  for (const file of imports.keys()) if (!index.has(file)) visit(file)
  return circles
}

/**
 * Libraries that are imported when they are needed. What is bundled and was CommonJS has then a
 * default only.
 */
function lazyLibraries(text: string): string[] {
  return [...text.matchAll(/\bimport\(\s*'([^'.][^']*)'\s*\)/g)]
    .map((match) => match[1] ?? '')
    .filter((library) => !library.startsWith('node:') && !unbundled.includes(library))
}

function sourceFiles(): string[] {
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.ts'))
    .toSorted()
}

function roomOf(path: string): string {
  return path.split('/')[0] ?? path
}

function importsOf(text: string): string[] {
  return [...text.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map((match) => match[1] ?? '')
}

/** Rooms that nearly every other one imports: arrows to them would hide the rest. */
const everywhere = ['model', 'generated', 'catalog', 'report']

/** Draws the rooms and who imports whom, as a Mermaid flow chart. */
export function drawHouse(rooms: Room[]): string {
  const arrows = rooms.flatMap(({ name, imports }) =>
    [...imports.keys()]
      .filter((other) => !everywhere.includes(other))
      .map((other) => `  ${name} --> ${other}`),
  )
  return ['```mermaid', 'flowchart TD', ...arrows.toSorted(), '```'].join('\n')
}

const picturePage = new URL('../docs/architecture.md', import.meta.url)
const picturePlace = /(<!-- picture -->\n)[\s\S]*?(<!-- \/picture -->)/

/** The page of the architecture, with the house as it is drawn now. */
export function renderPage(rooms: Room[]): { now: string; drawn: string } {
  const now = readFileSync(picturePage, 'utf8')
  return { now, drawn: now.replace(picturePlace, `$1\n${drawHouse(rooms)}\n\n$2`) }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { rooms, faults } = inspect()
  if (process.argv.includes('--picture')) writeFileSync(picturePage, renderPage(rooms).drawn)
  for (const { name, files, lines, imports } of rooms) {
    const list = [...imports].map(([other, count]) => `${other} ${count}`).join(', ')
    console.log(
      `${name.padEnd(10)} ${String(files).padStart(3)} files ${String(lines).padStart(6)} lines   ${list === '' ? 'imports nothing' : `imports ${list}`}`,
    )
  }
  for (const fault of faults) console.error(fault)
  if (faults.length > 0) process.exitCode = 1
}
