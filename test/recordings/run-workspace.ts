import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Io } from '../../src/cli/io.ts'
import { run } from '../../src/cli/program.ts'
import { Chance } from '../simulation/chance.ts'
import { Place, token, type CommandResult } from '../steps/cli.ts'
import { lastId, listSteps, onTerminal } from './commands.ts'
import { RecordedService } from './service.ts'
import { serviceUrl, type Files, type RecordedWorkspace } from './workspace.ts'

/** What a command printed, sent and wrote, without the place of the run. */
export interface Recording {
  command: string
  exit: number
  out: string
  err: string
  /** The calls that the service got. */
  calls: string
  /** The files outside of the state that are new or changed. */
  files: string
}

const start = Date.UTC(2026, 10, 20, 12)
/** Time between two commands, ms. */
const between = 90_000

/** Runs the commands of a workspace in a folder, a time zone, a clock and a chance of its own. */
export async function runWorkspace(workspace: RecordedWorkspace): Promise<Recording[]> {
  const { TZ: zone } = process.env
  // Texts for people have times of the machine.
  process.env['TZ'] = 'UTC'
  try {
    return await runCommands(workspace)
  } finally {
    if (zone === undefined) delete process.env['TZ']
    else process.env['TZ'] = zone
  }
}

async function runCommands(workspace: RecordedWorkspace): Promise<Recording[]> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'edgewise-recordings-')))
  const place = new Place(serviceUrl, '', { root })
  const time = { now: start }
  const service = new RecordedService(token, workspace, () => time.now)
  Object.assign(place, { time, transport: service.transport, env: environment })
  writeAll(place, workspace.files)
  const fix = fixOutside(place, new Chance(workspace.name))
  const seen = listFiles(root)
  const recordings: Recording[] = []
  let id = 'none'
  try {
    for (const step of listSteps(workspace)) {
      time.now += between
      if (step === 'edit') {
        writeAll(place, workspace.edits)
        listNewFiles(root, seen)
        continue
      }
      place.onTerminal = step[0] === onTerminal
      const line = step.filter((word) => word !== onTerminal)
      const { code, out, err } = await runCommand(
        line.map((word) => (word === lastId ? id : word)),
        fix,
      )
      id = (out + err).match(/\b\d{8}T\d{6}Z-[0-9a-f]{4}\b/g)?.at(-1) ?? id
      const found = { out, err, calls: service.takeCalls(), files: listNewFiles(root, seen) }
      const named = Object.entries(found).map(([key, text]) => [key, normalize(text, root)])
      recordings.push({ command: step.join(' '), exit: code, ...Object.fromEntries(named) })
    }
    const state = normalize(listNewFiles(root, new Map(), true), root)
    return [
      ...recordings,
      { command: '(state)', exit: 0, out: '', err: '', calls: '', files: state },
    ]
  } finally {
    place.remove()
  }
}

/** Variables of the examples, and of the workspaces with secrets. */
const environment = {
  EDGEWISE_TOKEN: token,
  STOREFRONT_SIGNING_KEY: 'signing-key-of-the-storefront',
  STOREFRONT_ORIGIN_TOKEN: 'origin-token-of-the-storefront',
  EVERY_ITEM_SIGNING_KEY: 'signing-key-of-every-item',
  EVERY_ITEM_STORAGE_ACCESS_KEY: 'access-key-of-every-item',
  EVERY_ITEM_STORAGE_SECRET_KEY: 'secret-key-of-every-item',
  SIGNING: 'signing-key-of-the-fleet',
  STORAGE: 'storage-key-of-the-fleet',
}

/** Leaves out of a text what depends on the place of a run. */
export function normalize(text: string, root: string): string {
  return text.replaceAll(root, '/workspace')
}

type Fix = (ran: Omit<CommandResult, 'code'>) => Io

/** Replaces what differs between processes; texts are not wrapped, since paths have any length. */
function fixOutside(place: Place, chance: Chance): Fix {
  const ids = chance.fork('ids')
  return (ran) => {
    const io = place.createIo(ran)
    return {
      ...io,
      ...(place.onTerminal ? {} : { columns: Infinity, errColumns: Infinity }),
      newId: () => `00000000-0000-4000-8000-${ids.between(1e11, 1e12 - 1)}`,
      random: () => chance.draw(),
      user: 'user@machine',
      machine: { ...io.machine, pid: 4711, processName: 'process' },
    }
  }
}

/** A crash is an answer too: it is recorded by its message. */
async function runCommand(line: string[], fix: Fix): Promise<CommandResult> {
  const ran = { code: 0, out: '', err: '' }
  const io = fix(ran)
  try {
    ran.code = await run(line, io)
  } catch (error) {
    ran.code = 70
    ran.err += `crashed: ${String(error)}\n`
  }
  return ran
}

function writeAll(place: Place, files: Files): void {
  for (const [path, text] of Object.entries(files))
    if (text === null) rmSync(join(place.root, path))
    else place.write(path, text)
}

function listFiles(root: string): Map<string, string> {
  const seen = new Map<string, string>()
  listNewFiles(root, seen)
  return seen
}

/**
 * Lists files that are not among those seen, with their texts, and adds them.
 *
 * @param ofState whether they are those of the state, or the others
 */
function listNewFiles(root: string, seen: Map<string, string>, ofState = false): string {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .filter((path) => /^(?:\.edgewise|moved)\//.test(path) === ofState)
    .filter((path) => statSync(join(root, path)).isFile())
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8')
      if (seen.get(path) === text) return ''
      seen.set(path, text)
      return `== ${path}\n${text}\n`
    })
    .join('')
}

/** Shortens a text to 24 bits; `-` if it is empty. */
export function shorten(text: string): string {
  return text === '' ? '-' : createHash('sha256').update(text).digest('hex').slice(0, 6)
}
