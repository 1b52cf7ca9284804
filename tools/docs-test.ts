/**
 * Runs every command of every page, in order, in a workspace of that page's own, and compares what
 * it prints with what the page shows. `test/docs/<page>.sh` sets the workspace up. Exits with 1 if
 * a command fails or prints something else.
 *
 * Names of pages as arguments run only these. `--draw` writes the pictures that show other output
 * than the commands printed, instead of failing; without names it runs the pages with a picture.
 */
import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { findDifference, matchIds, parsePage, type DocStep } from './docs-page.ts'
import { Shell } from './docs-shell.ts'
import { createPicture } from './docs-picture.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Lines of the output of a failed command that are shown. */
const maxLines = 40

const home = mkdtempSync(join(tmpdir(), 'edgewise-docs-'))
const env = prepareEnvironment()
const { values: options, positionals: named } = parseArgs({
  options: { draw: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const pages = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((page) => page !== '' && (named.length === 0 ? isWanted(page) : named.includes(page)))
const unknown = named.filter((page) => !pages.includes(page))
if (unknown.length > 0) throw new Error(`no such page: ${unknown.join(', ')}`)
const totals = { run: 0, skipped: 0, failed: 0 }
try {
  for (const page of pages) await testPage(page)
} finally {
  rmSync(home, { recursive: true, force: true })
}
console.log(
  `\n${totals.run} commands of ${pages.length} pages run, ${totals.failed} failed, ` +
    `${totals.skipped} not run`,
)
if (totals.run === 0 || totals.failed > 0) process.exitCode = 1

function isWanted(page: string): boolean {
  return !options.draw || readFileSync(join(root, page), 'utf8').includes('\n<!-- test: picture ')
}

/** Makes the folder of programs and the variables that the commands see. */
function prepareEnvironment(): NodeJS.ProcessEnv {
  const bin = join(home, 'bin')
  mkdirSync(bin)
  const main = join(root, 'dist/cli/main.js')
  const program = `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`
  writeFileSync(join(bin, 'edgewise'), program, { mode: 0o755 })
  const config = join(home, 'gitconfig')
  const identity = '[user]\n  name = Docs\n  email = docs@example.com\n'
  writeFileSync(
    config,
    `${identity}[init]\n  defaultBranch = main\n[advice]\n  detachedHead = false\n`,
  )
  return {
    PATH: `${bin}:${process.env['PATH']}`,
    HOME: home,
    LC_ALL: 'C.UTF-8',
    COLUMNS: '80',
    GIT_CONFIG_GLOBAL: config,
    GIT_CONFIG_NOSYSTEM: '1',
    BIN: bin,
    REPOSITORY: root,
  }
}

async function testPage(page: string): Promise<void> {
  const steps = parsePage(readFileSync(join(root, page), 'utf8'))
  if (steps.length === 0) return
  console.log(`\n${page}`)
  const folder = join(home, 'pages', page)
  mkdirSync(folder, { recursive: true })
  const shell = new Shell(folder, env)
  try {
    const setup = join(root, 'test/docs', `${page.replaceAll('/', '-').slice(0, -3)}.sh`)
    if (existsSync(setup)) await shell.run(`set -e; source '${setup}'; set +e`)
    const ids = new Map<string, string>()
    for (const step of steps) await testStep(page, step, ids, shell)
  } catch (error) {
    totals.failed++
    console.error(`  ${page}: ${error instanceof Error ? error.message : String(error)}`)
  } finally {
    await shell.end()
  }
}

/** Compares a picture with what the commands print or write, or draws it again. */
async function testPicture(
  page: string,
  step: Extract<DocStep, { kind: 'picture' }>,
  shell: Shell,
): Promise<void> {
  const { line, path, commands } = step
  const picture = createPicture(root, home, step)
  for (const command of commands) {
    const { code, output } = await shell.run(picture.wrap(command))
    totals.run++
    if (code !== 0) throw new Error(`line ${line}: ${command}: exit code ${code}\n${output}`)
    picture.add({ command, output })
  }
  if (picture.isCurrent()) return
  if (options.draw) {
    await picture.draw()
    console.log(`  line ${line}: drew ${path}`)
    return
  }
  totals.failed++
  console.error(`  ${page}:${line}: ${path} shows something else: run "npm run picture"`)
}

/** @param ids of applies that the page shows, with those of this run; gets further ones */
async function testStep(
  page: string,
  step: DocStep,
  ids: Map<string, string>,
  shell: Shell,
): Promise<void> {
  if (step.kind === 'skip') {
    totals.skipped += step.commands
    console.log(`  line ${step.line}: ${step.commands} not run: ${step.reason}`)
  } else if (step.kind === 'write') {
    const { output } = await shell.run('pwd')
    const path = join(output.trim(), step.path)
    mkdirSync(dirname(path), { recursive: true })
    if (step.appends) appendFileSync(path, step.text)
    else writeFileSync(path, step.text)
  } else if (step.kind === 'background') {
    await shell.start(step.command)
    totals.run++
  } else if (step.kind === 'picture') {
    await testPicture(page, step, shell)
  } else {
    const { shown, expects } = step
    const command = [...ids].reduce((text, [id, own]) => text.replaceAll(id, own), step.command)
    const { code, output } = await shell.run(expects.asks ? `${command} --yes` : command)
    const problem =
      code === expects.exit
        ? shown && findDifference(shown, output.split('\n'), expects)
        : `expected exit code ${expects.exit}, got ${code}`
    totals.run++
    if (problem === null) {
      for (const [id, own] of matchIds(shown ?? [], output.split('\n'))) ids.set(id, own)
      return
    }
    totals.failed++
    console.error(`  ${page}:${step.line}: ${command}\n    ${problem}`)
    console.error(output.split('\n').slice(0, maxLines).join('\n').replaceAll(/^/gm, '    | '))
  }
}
