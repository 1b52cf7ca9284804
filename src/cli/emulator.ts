import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { findWireNameProblems, type ItemKeys } from '../core/catalog/wire-names.ts'
import { listensOnLoopback, startEmulator } from '../emulator/emulator.ts'
import { parseFaults, type Fault } from '../emulator/entities/fault.ts'
import { refuseLinkIn } from '../files/find-link.ts'
import { parseJson } from '../core/model/json.ts'
import { EdgewiseError } from '../core/model/edgewise-error.ts'
import { findCheckout } from '../state/git/find-repository.ts'
import type { CommandContext, Io } from './io.ts'
import { loadFile } from './load-file.ts'

export interface EmulatorFlags {
  port: number
  host: string
  token?: string
  tokenFile?: string
  domains?: string
  data?: string
  callsPerMinute: number
  /** By default on, on loopback only. */
  control?: 'on' | 'off'
  lenient?: boolean
  extended?: boolean
  deploySeconds?: number
  itemKeys: string[]
  limitStyle: 'status' | 'body'
  seed: string
  timezone: string
  deadOrigin: string[]
  faults?: string
}

const tokenVariable = 'EDGEWISE_EMULATOR_TOKEN'

/** `edgewise emulator`: runs an emulator of the service until it is interrupted. */
export async function runEmulator(
  { io, note }: CommandContext,
  _args: unknown[],
  flags: EmulatorFlags,
): Promise<void> {
  if (flags.deploySeconds !== undefined && flags.extended !== true)
    throw new EdgewiseError('usage', '--deploy-seconds needs --extended')
  const token = loadToken(flags, io)
  if (!listensOnLoopback(flags.host)) refuseExposed(flags, token)
  const running = await startEmulator(
    {
      token,
      domains: flags.domains === undefined ? null : loadDomains(flags.domains, io),
      callsPerMinute: flags.callsPerMinute,
      itemKeys: parseItemKeys(flags.itemKeys),
      control: flags.control !== 'off',
      lenient: flags.lenient === true,
      extended: flags.extended === true,
      deployMs: (flags.deploySeconds ?? 0) * 1000,
      limitStyle: flags.limitStyle,
      seed: flags.seed,
      timezone: flags.timezone,
      deadOrigins: flags.deadOrigin,
      faults: flags.faults === undefined ? [] : loadFaults(flags.faults, io),
      dataFile: flags.data === undefined ? null : findDataFile(flags.data, io),
      now: () => io.clock.now(),
      requestId: () => randomUUID(),
    },
    { host: flags.host, port: flags.port },
  )
  io.out(`listening on ${running.url}\n`)
  note(`Send writes to ${running.url}/v2/domain/config; stop with Ctrl-C.`)
  await io.waitForStop()
  await running.close()
}

/** @throws EdgewiseError `usage` for a link in a checkout */
function findDataFile(file: string, { cwd }: Io): string {
  const path = resolve(cwd, file)
  const checkout = findCheckout(cwd)
  if (checkout !== null) refuseLinkIn(checkout, path)
  return path
}

/** Loads the token from the options or the environment; null if there is none. */
function loadToken({ token, tokenFile }: EmulatorFlags, io: Io): string | null {
  const given =
    tokenFile === undefined
      ? (token ?? (io.env[tokenVariable] || null))
      : loadNamed(tokenFile, 'the token', '', io).replace(/\r?\n$/, '')
  const hint = 'Pass a text of at least one character, without line ends.'
  if (given === '') throw new EdgewiseError('usage', 'the token is empty', hint)
  if (given !== null && /[\r\n]/.test(given))
    throw new EdgewiseError('usage', 'the token is not on one line', hint)
  return given
}

/** Refuses options that are for loopback only: no token, the control surface. */
function refuseExposed({ host, control }: EmulatorFlags, token: string | null): void {
  if (token === null)
    throw new EdgewiseError(
      'usage',
      `listening on ${host} needs a token`,
      `Pass --token-file, set ${tokenVariable}, or omit --host to listen on this machine only.`,
    )
  if (control === 'on')
    throw new EdgewiseError(
      'usage',
      `the control surface needs no token and can't be offered on ${host}`,
      'Pass --control off, or omit --host to listen on this machine only.',
    )
}

/** Parses wire names, `ITEM=NAME` each. */
function parseItemKeys(pairs: string[]): ItemKeys {
  const entries = pairs.map((pair): [string, string] => {
    const [, item, name] = /^([^=]+)=(.*)$/s.exec(pair) ?? []
    if (item !== undefined && name !== undefined) return [item, name]
    throw new EdgewiseError('usage', `expected --item-keys to be ITEM=NAME, got "${pair}"`)
  })
  const items = entries.map(([item]) => item)
  const twice = items.find((item, i) => items.indexOf(item) < i)
  if (twice !== undefined)
    throw new EdgewiseError('usage', `--item-keys: the item "${twice}" has two names`, 'Pass one.')
  const itemKeys: ItemKeys = Object.fromEntries(entries)
  const [problem] = findWireNameProblems(itemKeys)
  if (problem === undefined) return itemKeys
  const { item, detail } = problem
  throw new EdgewiseError('usage', `--item-keys ${item}=${itemKeys[item]}: ${detail}`)
}

/** Loads a file that an option names, with the hint of its error. */
function loadNamed(file: string, what: string, hint: string, { cwd }: Io): string {
  const path = resolve(cwd, file)
  return loadFile(path, `the file of ${what} ${path}`, hint, findCheckout(cwd))
}

function loadFaults(file: string, io: Io): Fault[] {
  const hint = 'Pass a file with {"faults": [{"kind": "error", "on": [2], "status": 502}]}.'
  const body = parseJson(loadNamed(file, 'faults', hint, io))
  const faults = body === undefined ? 'expected JSON' : parseFaults(body)
  if (typeof faults !== 'string') return faults
  throw new EdgewiseError('usage', `invalid faults in ${file}: ${faults}`, hint)
}

function loadDomains(file: string, io: Io): string[] {
  return loadNamed(file, 'domains', 'Pass a text file with one domain per line.', io)
    .split(/\r?\n/)
    .map((line) => line.replace(/#.*/, '').trim().toLowerCase())
    .filter((line) => line !== '')
}
