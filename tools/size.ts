/**
 * Counts the tokens of files that are written by hand, by room, and the bytes of what is not: the
 * generated code, the packages in the bundle, and the golden files. Prints each figure with its
 * ceiling of `tools/size.json`, and fails above one. `--lower` lowers the ceilings to the figures,
 * rounded up to the next 1 %; it raises none.
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseOptions } from './launch.ts'
import { bundle, root } from './bundle.ts'

/** Figures or ceilings by name, e.g. `src/cli`, `tests`, `bytes of golden files`. */
export type Sizes = Record<string, number>

/** All of `src`: its ceiling is the figure itself, so that what one room gains another loses. */
const sum = 'src'
const counted = /\.(?:ts|mts|mjs|js|cjs|css|json|ya?ml|sql|html|sh)$/
const generated = /(?:^|\/)generated\//

const comment = /\/\*[\s\S]*?\*\/|(?<![:"'`])\/\/[^\n]*/
const text = /`(?:\\[\s\S]|[^\\`])*`|'(?:\\.|[^\\'\n])*'|"(?:\\.|[^\\"\n])*"/
const word = /[\p{L}\p{N}_$]+/u
const mark = /=>|\?\?=?|\?\.|[=!]==?|&&|\|\||\.\.\.|[^\s]/
const token = new RegExp([comment, text, word, mark].map(({ source }) => source).join('|'), 'gu')
/** Characters of a text that count as one token. */
const textUnit = 8

/**
 * Counts the tokens of a source: a word, a number or an operator is one, a text one for each 8
 * characters, a comment none. Data, styles and queries count like code.
 */
export function countTokens(source: string): number {
  return [...source.matchAll(token)].reduce((count, [each]) => count + weigh(each), 0)
}

function weigh(each: string): number {
  if (/^\/[*/]/.test(each)) return 0
  const quotes = 2
  return /^['"`]/.test(each) ? Math.max(1, Math.ceil((each.length - quotes) / textUnit)) : 1
}

/** Measures files: tokens by room, and bytes of what has no tokens. */
export function measure(paths: string[], load: (path: string) => string): Sizes {
  const sizes: Sizes = { [sum]: 0 }
  const add = (name: string, size: number) => (sizes[name] = (sizes[name] ?? 0) + size)
  for (const path of paths) {
    const room = findRoom(path)
    if (generated.test(path)) add('bytes of generated code', Buffer.byteLength(load(path)))
    else if (counted.test(path)) {
      const tokens = countTokens(load(path))
      add(room, tokens)
      if (room.startsWith('src/')) add(sum, tokens)
    } else if (room !== 'editors') add('bytes of golden files', Buffer.byteLength(load(path)))
  }
  const isBytes = (name: string) => Number(name.startsWith('bytes'))
  return Object.fromEntries(Object.entries(sizes).toSorted(([a], [b]) => isBytes(a) - isBytes(b)))
}

function findRoom(path: string): string {
  const [top = '', room = ''] = path.split('/')
  if (top === 'src') return `src/${room}`
  return top === 'test' ? 'tests' : top
}

/** Lists figures above their ceilings, and those that have none; of what is gone, the ceilings. */
export function findExcess(sizes: Sizes, ceilings: Sizes): string[] {
  const names = [...new Set([...Object.keys(sizes), ...Object.keys(ceilings)])]
  return names.flatMap((name) => {
    const [size, ceiling] = [sizes[name], ceilings[name]]
    if (size === undefined) return [`${name} is gone: remove its ceiling from tools/size.json`]
    if (ceiling === undefined) return [`${name} has no ceiling: take it from other rooms`]
    return size <= ceiling
      ? []
      : [`${name}: ${format(size)}, of at most ${format(ceiling)}: say it in fewer places`]
  })
}

/** Lowers ceilings to the figures, rounded up to the next 1 %, and adds those that are missing. */
export function lowerCeilings(sizes: Sizes, ceilings: Sizes): Sizes {
  return Object.fromEntries(
    Object.entries(sizes).map(([name, size]) => {
      const rounded = name === sum ? size : Math.ceil(size * 1.01)
      return [name, Math.min(rounded, ceilings[name] ?? Infinity)]
    }),
  )
}

/** Measures this tree. */
async function measureTree(): Promise<Sizes> {
  const paths = ['src', 'test', 'tools', 'editors'].flatMap((folder) =>
    readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
      .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
      .filter((path) => !path.includes('/node_modules/') && statSync(new URL(path, root)).isFile())
      .toSorted(),
  )
  const sizes = measure(paths, (path) => readFileSync(new URL(path, root), 'utf8'))
  return { ...sizes, 'bytes of bundled packages': await measurePackages() }
}

async function measurePackages(): Promise<number> {
  const { outputs } = await bundle({ write: false })
  return Object.values(outputs)
    .flatMap(({ inputs }) => Object.entries(inputs))
    .filter(([path]) => path.includes('node_modules/'))
    .reduce((bytes, [, { bytesInOutput }]) => bytes + bytesInOutput, 0)
}

function format(size: number): string {
  return size.toLocaleString('en')
}

function print(sizes: Sizes, ceilings: Sizes): void {
  console.log('| tokens by hand            |      size |   ceiling |')
  console.log('|---------------------------|----------:|----------:|')
  for (const [name, size] of Object.entries(sizes)) {
    const ceiling = ceilings[name] === undefined ? '' : format(ceilings[name])
    console.log(`| ${name.padEnd(25)} | ${format(size).padStart(9)} | ${ceiling.padStart(9)} |`)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = new URL('tools/size.json', root)
  const { lower } = parseOptions({}, ['lower'])
  const sizes = await measureTree()
  const kept = JSON.parse(readFileSync(file, 'utf8')) as Sizes
  const ceilings = lower ? lowerCeilings(sizes, kept) : kept
  if (lower) writeFileSync(file, `${JSON.stringify(ceilings, null, 2)}\n`)
  print(sizes, ceilings)
  const excess = findExcess(sizes, ceilings)
  for (const each of excess) console.error(each)
  if (excess.length > 0) process.exitCode = 1
}
