/** Options that several commands share, with the parsed values. */
import { InvalidArgumentError, Option, type Command } from 'commander'
import type { ItemKey } from '../../core/model/item.ts'
import { describeEndings, findFormat, type Format } from '../report-formats/formats.ts'
import type { ReportCommand } from '../report-formats/subjects.ts'

/** Selection of domains and items. Empty lists select all. */
export interface SelectionOptions {
  target: string[]
  item: ItemKey[]
}

/** Adds {@link SelectionOptions}. */
export function addSelectionOptions(command: Command): Command {
  return addTargetOptions(command, 'only domains that match').option(
    '--item <item>',
    'only this item; repeatable',
    collect,
    [],
  )
}

/** Adds `--target`, and `--exclude`, which ends as a pattern after `!` of the same list. */
export function addTargetOptions(command: Command, only: string): Command {
  return command
    .option('--target <glob>', `${only}; "!GLOB" takes domains out; repeatable`, collect, [])
    .option('--exclude <glob>', 'not domains that match; repeatable', collect, [])
    .hook('preAction', (own) => {
      const { target, exclude } = own.opts<{ target: string[]; exclude: string[] }>()
      own.setOptionValue('target', [...target, ...exclude.map((glob) => `!${glob}`)])
    })
}

/** Permissions of an apply beyond its guards. */
export interface GuardOptions {
  /** Items whose destructive changes are allowed. */
  allow: ItemKey[]
  force?: boolean
  /** Go back to older values. */
  allowOlder?: boolean
}

/** Adds {@link GuardOptions}. */
export function addGuardOptions(command: Command): Command {
  return command
    .option(
      '--allow <item>',
      'allow destructive changes of this item, and over values that others gave it; repeatable',
      collect,
      [],
    )
    .option('--force', 'override guards.maxDomains, maxChanges and maxTraffic')
}

/** Adds the option of commands that apply manifests, which may be old. */
export function addOlderOption(command: Command): Command {
  return command.option(
    '--allow-older',
    'also go back to older values, which guards.order refuses without consent',
  )
}

/** Policies to override, and why. */
export interface OverrideOptions {
  override: string[]
  reason?: string
}

/** Adds {@link OverrideOptions}. */
export function addOverrideOptions(command: Command): Command {
  return command
    .option(
      '--override <policy>',
      'apply although this soft policy, or "freeze", forbids it; repeatable',
      collect,
      [],
    )
    .option('--reason <text>', 'why, for the history; guards.reason has which options need it')
}

/** Builds the part of a request for {@link GuardOptions}. */
export function buildGuardRequest({
  allow,
  force,
  allowOlder,
}: GuardOptions): Required<GuardOptions> {
  return {
    allow,
    force: force === true,
    allowOlder: allowOlder === true,
  }
}

/** Options of commands that change state. */
export interface LockOptions {
  /** Seconds to wait for the lock. */
  lockTimeout: number
}

/** Adds {@link LockOptions}. */
export function addLockOptions(
  command: Command,
  description = 'seconds to wait for the lock',
  seconds = 0,
): Command {
  return command.option(
    '--lock-timeout <seconds>',
    description,
    createIntegerParser(0, 86_400),
    seconds,
  )
}

/** Options of a command with reports. */
export interface ReportOptions {
  /** Files to write. */
  report: { path: string; format: Format }[]
  /** Whether pages are for a server. */
  served?: boolean
}

/** Adds {@link ReportOptions}. A file with another ending is a usage error. */
export function addReportOption(command: Command, name: ReportCommand): Command {
  const list = describeEndings(name)
  const collectFile = (path: string, before: ReportOptions['report']): ReportOptions['report'] => {
    const format = findFormat(name, path)
    if (format !== undefined) return [...before, { path, format }]
    throw new InvalidArgumentError(`Expected a file that ends with ${list}.`)
  }
  const description = `write a report, by the ending of the file: ${list}; repeatable`
  return command
    .option('--report <file>', description, collectFile, [])
    .addOption(new Option('--served', 'pages for edgewise serve').hideHelp())
}

/** Tests whether a page is among the reports. */
export function hasPage({ report }: ReportOptions): boolean {
  return report.some(({ format }) => format.isPage === true)
}

/** Collects the values of a repeatable option. */
export function collect(value: string, before: string[]): string[] {
  return [...before, value]
}

/** Parses a number of days such as `90d` into ms. */
export function parseDays(value: string): number {
  const [, days] = /^(\d{1,5})d$/.exec(value) ?? []
  if (days !== undefined) return Number(days) * 86_400_000
  throw new InvalidArgumentError('Expected a number of days, such as 90d.')
}

/** Parses the id of a workspace. */
export function parseWorkspaceId(value: string): string {
  if (/^(?!\.+$)[A-Za-z0-9._-]{1,64}$/.test(value)) return value
  throw new InvalidArgumentError('Expected 1 to 64 letters, digits, ".", "_" and "-".')
}

/** Creates a parser of integer options; both limits are inclusive. */
export function createIntegerParser(min: number, max: number) {
  return (text: string): number => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < min || value > max)
      throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`)
    return value
  }
}

/** Codes of findings with another severity than their own. */
export interface LevelOptions {
  warning: string[]
  error: string[]
}

/** Adds {@link LevelOptions}. */
export function addLevelOptions(command: Command): Command {
  return command
    .option('-W, --warning <code>', 'make findings of this code warnings; repeatable', collect, [])
    .option('-E, --error <code>', 'make findings of this code errors; repeatable', collect, [])
}

/** Options of commands that show what a change does to requests. */
export interface EffectsOptions {
  requests: string[]
  sample?: number
  log?: 'combined'
  base?: string
  groupBy?: 'shape'
  assume: string[]
}

/** Adds {@link EffectsOptions}. */
export function addEffectsOptions(command: Command): Command {
  return command
    .option('--requests <file>', 'trace these requests before and after; repeatable', collect, [])
    .addOption(new Option('--log <format>', 'the files are logs').choices(['combined']))
    .option('--base <url>', 'with --log: scheme and host of what has none')
    .option('--sample <lines>', 'with --log: at most so many lines', createIntegerParser(1, 1e9))
    .addOption(
      new Option('--group-by <what>', 'group by whether keys and URLs change').choices(['shape']),
    )
    .option('--assume <answers>', 'answers of readings, as for "edgewise trace"', collect, [])
}
