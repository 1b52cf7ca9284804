import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { startEmulator } from '../emulator/emulator.ts'
import { parseFault, type Fault } from '../emulator/entities/fault.ts'
import type { Json, JsonObject } from '../model/json.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { CommandContext } from './io.ts'
import { exitCodes } from './exit-codes.ts'
import { loadFile } from './load-file.ts'

export interface EmulatorFlags {
  port: number
  host: string
  token?: string
  domains?: string
  data?: string
  callsPerMinute: number
  control: 'on' | 'off'
  lenient?: boolean
  limitStyle: 'status' | 'body'
  seed: string
  timezone: string
  deadOrigin: string[]
  fault: string[]
}

const loopback = new Set(['127.0.0.1', '::1', 'localhost'])

/** `edgewise emulator`: the service on this machine, until it is interrupted. */
export async function runEmulator(
  { io, note }: CommandContext,
  _args: unknown[],
  flags: EmulatorFlags,
): Promise<number> {
  if (!loopback.has(flags.host) && !flags.token) {
    throw new EdgewiseError(
      'usage',
      `listening on ${flags.host} needs a token`,
      'Give --token, or leave --host out to listen on this machine only.',
    )
  }
  const running = await startEmulator(
    {
      token: flags.token ?? null,
      domains: flags.domains === undefined ? null : domainsIn(resolve(io.cwd, flags.domains)),
      callsPerMinute: flags.callsPerMinute,
      itemKeys: {},
      control: flags.control === 'on',
      lenient: flags.lenient === true,
      limitStyle: flags.limitStyle,
      seed: flags.seed,
      timezone: flags.timezone,
      deadOrigins: flags.deadOrigin,
      faults: flags.fault.map(faultOf),
      dataFile: flags.data === undefined ? null : resolve(io.cwd, flags.data),
      now: () => io.clock.now(),
      requestId: () => randomUUID(),
    },
    { host: flags.host, port: flags.port },
  )
  io.out(`listening on ${running.url}\n`)
  note(`Writes go to ${running.url}/v2/domain/config; end with Ctrl-C.`)
  await io.waitForStop()
  await running.close()
  return exitCodes.done
}

/** Reads `kind` or `kind:field=value,…`; `on` may be given several times. */
function faultOf(text: string): Fault {
  const [kind = '', ...rest] = text.split(':')
  const given: JsonObject = { kind }
  for (const pair of rest
    .join(':')
    .split(',')
    .filter((part) => part !== '')) {
    const [name = '', ...values] = pair.split('=')
    const value = wordOf(values.join('='))
    given[name] =
      name === 'on' ? [...(Array.isArray(given['on']) ? given['on'] : []), value] : value
  }
  const fault = parseFault(given)
  if (typeof fault !== 'string') return fault
  throw new EdgewiseError(
    'usage',
    `the fault "${text}" can't be read: ${fault}`,
    'Give it like "error:on=2,on=5,status=502".',
  )
}

function wordOf(text: string): Json {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text
}

function domainsIn(path: string): string[] {
  return loadFile(path, `the file of domains ${path}`, 'Name a text file with one domain a line.')
    .split(/\r?\n/)
    .map((line) => line.replace(/#.*/, '').trim().toLowerCase())
    .filter((line) => line !== '')
}
