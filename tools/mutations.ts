/**
 * Applies each mutation of `tools/mutations/list.txt` in a copy of the last commit, runs the tests,
 * and prints the share that they find, overall and by `npm test`, and the mutations that survive.
 * Only those that `npm test` does not find are tried with the longer checks, at a tenth.
 *
 * `--sample N` tries N of them, spread over the list; `--quick` leaves out the longer checks;
 * `--anchors` only looks for the lines. Results are kept in `--results FILE`, so that another run
 * of the same commit goes on after them. `--draw N --seed S` writes a new list.
 */
import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describeSeconds, parseOptions } from './launch.ts'
import { drawMutations } from './mutations/draw.ts'
import {
  findFile,
  formatMutation,
  formatMutations,
  loadMutations,
  loadSources,
  type Mutation,
} from './mutations/list.ts'
import { Scratch } from './mutations/scratch.ts'
import { tryMutation, type Result } from './mutations/try-mutation.ts'

const root = new URL('../', import.meta.url)
const numbers = { sample: 1_000_000, draw: 1_000_000, seed: 1 }
const options = parseOptions(numbers, ['quick', 'anchors'], ['results'])
const { results = 'node_modules/.cache/edgewise/mutations.jsonl', sample, draw, seed } = options

if (draw !== numbers.draw) {
  const drawn = drawMutations(loadSources(root), draw, `mutations ${seed}`)
  writeFileSync(new URL('tools/mutations/list.txt', root), formatMutations(drawn))
} else await main()

async function main(): Promise<void> {
  const sources = loadSources(root)
  const placed = spread(loadMutations(), sample).map((mutation) => ({
    mutation,
    path: findFile(mutation, sources),
  }))
  const gone = placed.filter(({ path }) => path === null)
  for (const { mutation } of gone) console.error(`gone, to be replaced:\n${describe(mutation)}`)
  if (gone.length > 0) process.exitCode = 1
  if (options.anchors) return
  const found = await tryAll(
    placed.flatMap(({ path, mutation }) => (path === null ? [] : [{ path, mutation }])),
  )
  printResults(found, gone.length)
}

async function tryAll(placed: { path: string; mutation: Mutation }[]): Promise<Result[]> {
  const cwd = fileURLToPath(root)
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd, encoding: 'utf8' }).trim()
  const name = `${commit} ${options.quick ? 'quick' : 'all'}`
  const kept = loadResults(name)
  const scratch = new Scratch(cwd)
  await scratch.prepare()
  const remove = () => scratch.remove()
  process.once('exit', remove)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  const found: Result[] = []
  for (const { path, mutation } of placed) {
    const key = formatMutation(mutation)
    const known = kept.get(key)
    const modes = options.quick ? (['npm test'] as const) : (['npm test', 'longer'] as const)
    const result = known ?? (await tryMutation(scratch, path, mutation, [...modes]))
    found.push(result)
    if (known !== undefined) continue
    appendFileSync(results, `${JSON.stringify({ name, key, result })}\n`)
    console.log(`${describeSeconds().padStart(9)}  ${(result.by ?? 'survived').padEnd(8)}  ${path}`)
  }
  return found
}

/** Loads the results of this commit. */
function loadResults(name: string): Map<string, Result> {
  mkdirSync(dirname(results), { recursive: true })
  const lines = existsSync(results) ? readFileSync(results, 'utf8').trim().split('\n') : []
  return new Map(
    lines
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { name: string; key: string; result: Result })
      .filter((each) => each.name === name)
      .map(({ key, result }) => [key, result]),
  )
}

function printResults(found: Result[], gone: number): void {
  const unsure = found.filter(({ isUnsure }) => isUnsure)
  const sure = found.filter(({ isUnsure }) => !isUnsure)
  const survivors = sure.filter(({ by }) => by === null)
  for (const { mutation } of survivors) console.log(`\nsurvived:\n${describe(mutation)}`)
  for (const { mutation, test } of unsure)
    console.log(`\nunsure, since this fails without it too: ${test}\n${describe(mutation)}`)
  const share = (count: number) =>
    `${count} of ${sure.length} (${((100 * count) / Math.max(1, sure.length)).toFixed(1)} %)`
  const quick = sure.filter(({ by }) => by === 'npm test').length
  console.log(
    `\nfound: ${share(sure.length - survivors.length)}, by npm test: ${share(quick)}; ` +
      `${unsure.length} unsure, ${gone} gone, in ${describeSeconds()}`,
  )
}

function describe(mutation: Mutation): string {
  return formatMutation(mutation).replaceAll(/^/gm, '  ')
}

/** Chooses some of a list, evenly. */
function spread<T>(list: T[], count: number): T[] {
  if (count >= list.length) return list
  return Array.from({ length: count }, (_, i) => list[Math.floor((i * list.length) / count)] as T)
}
