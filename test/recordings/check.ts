import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { groups } from './list-workspaces.ts'
import { runWorkspace, shorten, type Recording } from './run-workspace.ts'

/** How recordings are checked. */
export interface Given {
  /** Part of the names of the workspaces to run; absent: all. */
  only?: string
  /** Folder for the whole texts; absent: only their hashes are compared. */
  save?: string
  /** Whether the recordings are written anew. */
  write?: boolean
}

/** Time for a group on a busy machine, ms; an idle one needs a tenth of it. */
export const maxMs = 600_000

/** Choices of `npm run record`, which runs the tests. */
export const given = JSON.parse(process.env['EDGEWISE_RECORD'] ?? '{}') as Given

const head =
  '# Written by "npm run record". Below each workspace, its commands: exit code, hashes of\n' +
  '# stdout, stderr, calls and files, and the arguments.\n'

/** Runs the workspaces of a group, and returns what differs from their recordings. */
export async function checkGroup(group: string, { only, save, write }: Given): Promise<string[]> {
  const file = new URL(`${group}.txt`, import.meta.url)
  const workspaces = groups[group]?.() ?? []
  const found = new Map<string, Line[]>()
  for (const workspace of workspaces.filter(({ name }) => name.includes(only ?? ''))) {
    const recordings = await runWorkspace(workspace)
    if (save !== undefined) saveTexts(join(save, group, workspace.name), recordings)
    found.set(workspace.name, recordings.map(buildLine))
  }
  const recorded = parseRecordings(existsSync(file) ? readFileSync(file, 'utf8') : '')
  if (write === true) writeFileSync(file, head + formatRecordings(found))
  const names = new Set(workspaces.map(({ name }) => name))
  return [
    ...[...recorded.keys()]
      .filter((name) => !names.has(name))
      .map((name) => `${name}: no workspace has this name any more`),
    ...[...found].flatMap(([name, lines]) => compareLines(name, recorded.get(name), lines)),
  ]
}

/** A recorded command: `0 1a2b3c - - - plan --json`. */
interface Line {
  /** Exit code, and hashes of stdout, stderr, calls and files. */
  values: string[]
  command: string
}

const labels = ['exit code', 'stdout', 'stderr', 'calls', 'files']

function buildLine({ command, exit, out, err, calls, files }: Recording): Line {
  return { command, values: [String(exit), ...[out, err, calls, files].map(shorten)] }
}

function formatRecordings(found: ReadonlyMap<string, Line[]>): string {
  return [...found]
    .map(([name, lines]) =>
      [name, ...lines.map(({ values, command }) => ` ${values.join(' ')} ${command}`)].join('\n'),
    )
    .join('\n')
    .concat('\n')
}

/** Parses recordings: the name of a workspace at the margin, its commands below it. */
export function parseRecordings(text: string): Map<string, Line[]> {
  const found = new Map<string, Line[]>()
  let lines: Line[] = []
  for (const line of text.split('\n').filter((each) => each !== '' && !each.startsWith('#')))
    if (line.startsWith(' ')) {
      const words = line.slice(1).split(' ')
      lines.push({
        values: words.slice(0, labels.length),
        command: words.slice(labels.length).join(' '),
      })
    } else {
      lines = []
      found.set(line, lines)
    }
  return found
}

/** Lists the differences of a workspace, by command and by what differs. */
export function compareLines(name: string, before: Line[] | undefined, after: Line[]): string[] {
  if (before === undefined) return [`${name}: not recorded`]
  const [old, now] = [number(before), number(after)]
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((command) => {
    const [was, is] = [old.get(command), now.get(command)]
    if (was === undefined) return [`${name}: ${command}: not recorded`]
    if (is === undefined) return [`${name}: ${command}: not run any more`]
    const differing = labels.filter((_, i) => was[i] !== is[i])
    const described = differing.map((label) => {
      if (label === 'exit code') return `exit code ${was[0]} → ${is[0]}`
      return label === 'stdout' && / --json/.test(command) ? 'JSON' : label
    })
    return described.length === 0 ? [] : [`${name}: ${command}: ${described.join(', ')}`]
  })
}

/** Maps commands to their values; one that runs again has a number. */
function number(lines: Line[]): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const { command, values } of lines) {
    let name = command
    for (let i = 2; found.has(name); i++) name = `${command} (${i})`
    found.set(name, values)
  }
  return found
}

/** Writes a file for each command, so that two trees can be compared with diff. */
function saveTexts(folder: string, recordings: Recording[]): void {
  mkdirSync(folder, { recursive: true })
  for (const [i, { command, exit, out, err, calls, files }] of recordings.entries()) {
    const words = command.replaceAll(/[^\w.-]+/g, '_').slice(0, 60)
    const parts = Object.entries({ stdout: out, stderr: err, calls, files })
      .filter(([, text]) => text !== '')
      .map(([label, text]) => `--- ${label}\n${text}\n`)
    const text = `$ edgewise ${command}\nexit code ${exit}\n${parts.join('')}`
    writeFileSync(join(folder, `${String(i).padStart(3, '0')}-${words}.txt`), text)
  }
}
