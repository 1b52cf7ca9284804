import { type Command, CommanderError, Help, type Option } from 'commander'
import { EdgewiseError } from '../core/model/edgewise-error.ts'
import { declareApply } from './commands/apply.ts'
import { declareComplete, declareCompletion } from './commands/completion.ts'
import { declareDrift } from './commands/drift.ts'
import { declareEmulator } from './commands/emulator.ts'
import { declareExplain } from './commands/explain.ts'
import { declareFmt } from './commands/fmt.ts'
import { declareImport } from './commands/import.ts'
import { declareInit } from './commands/init.ts'
import { declareList } from './commands/list.ts'
import { declareLsp, declareMcp } from './commands/protocols.ts'
import { declarePlan } from './commands/plan.ts'
import { declarePolicies } from './commands/policies.ts'
import { declarePrefetch } from './commands/prefetch.ts'
import { declareReport } from './commands/report.ts'
import { declareRollback } from './commands/rollback.ts'
import { declareRollout } from './commands/rollout.ts'
import { declareServe } from './commands/serve.ts'
import { declareState } from './commands/state/state.ts'
import { declareTrace } from './commands/trace.ts'
import { declareShow } from './commands/show.ts'
import { declareStats } from './commands/stats.ts'
import { declareTest } from './commands/test.ts'
import { declareValidate } from './commands/validate.ts'
import {
  createDeclare,
  formatExamples,
  addGlobalOptions,
  type Declare,
} from './commands/declare.ts'
import { ExplainingCommand } from './commands/removed-options.ts'
import { exitCodes } from './exit-codes.ts'
import type { Io, LiveLine } from './io.ts'
import { guardOutput, wrapForStderr, createPaint } from './terminal/output.ts'
import { addLiveLine } from './terminal/live-line.ts'
import { version } from './package-files.ts'
import { findNearest } from '../core/catalog/value/nearest.ts'

/** Declares each command, by its name, in the order of the help. */
const commands: Record<string, (declare: Declare) => void> = {
  init: declareInit,
  validate: declareValidate,
  test: declareTest,
  plan: declarePlan,
  apply: declareApply,
  rollback: declareRollback,
  rollout: declareRollout,
  show: declareShow,
  list: declareList,
  report: declareReport,
  trace: declareTrace,
  policies: declarePolicies,
  drift: declareDrift,
  import: declareImport,
  state: declareState,
  stats: declareStats,
  prefetch: declarePrefetch,
  fmt: declareFmt,
  explain: declareExplain,
  lsp: declareLsp,
  serve: declareServe,
  mcp: declareMcp,
  emulator: declareEmulator,
  completion: declareCompletion,
  complete: declareComplete,
}

/**
 * Runs one command line.
 *
 * @param argv the arguments after the program's name; without any, help is printed
 * @returns the exit code; an `EdgewiseError` is printed here
 */
export async function run(args: string[], streams: Io): Promise<number> {
  const argv = resolveHelp(args)
  const { io, live } = addLiveLine(guardOutput(streams))
  let code: number = exitCodes.done
  const program = buildProgram(io, live, (exit) => (code = exit), argv)
  try {
    await program.parseAsync(argv.length === 0 ? ['--help'] : argv, { from: 'user' })
    return code
  } catch (error) {
    if (error instanceof CommanderError) {
      const json = argv.includes('--json')
      if (error.exitCode !== 0 && json)
        await reportError(
          new EdgewiseError(
            'usage',
            error.code === 'commander.help'
              ? 'missing subcommand'
              : dropFarSuggestions(error.message).replace(/^error: /, ''),
            'See "edgewise --help".',
          ),
          argv,
          io,
        )
      return error.exitCode === 0 ? exitCodes.done : exitCodes.failed
    }
    if (error instanceof EdgewiseError) {
      await reportError(error, argv, io)
      return error.code === 'rollback-unfinished' ? exitCodes.incomplete : exitCodes.failed
    }
    throw error
  } finally {
    live.end()
  }
}

/** Turns `help NAME` into the call that prints the help, or names the unknown command. */
function resolveHelp(argv: string[]): string[] {
  const [help, name = '-'] = argv
  if (help !== 'help' || name.startsWith('-')) return argv
  const rest = argv.slice(1)
  return Object.hasOwn(commands, name) ? [...rest, '--help'] : rest
}

/** Prints an error in the format of the raw options, which may have failed to parse. */
async function reportError(error: EdgewiseError, argv: string[], io: Io): Promise<void> {
  const { printError: showError } = await import('./terminal/print-error.ts')
  showError(
    error,
    io,
    argv.includes('--json'),
    createPaint(io.errIsTerminal, !argv.includes('--no-color'), io.env),
  )
}

/**
 * Builds the program with its commands, or only with the one that the first argument names.
 *
 * @param argv the arguments after the program's name
 */
export function buildProgram(
  io: Io,
  live: LiveLine,
  finish: (code: number) => void,
  argv: string[] = [],
): Command {
  const program = new ExplainingCommand('edgewise')
    .description('Keeps the configuration of CDN domains in sync with a Git repository.')
    .addHelpText('after', formatExamples(['init cdn', 'plan', 'apply', 'explain https']))
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help for a command')
    .showHelpAfterError('(see --help)')
    .exitOverride()
    .configureHelp({ optionDescription: describeOption })
    .configureOutput({
      writeOut: (text) => io.out(text),
      writeErr: (text) => io.err(text),
      outputError: (text, write) =>
        write(wrapForStderr(escapeArguments(dropFarSuggestions(text)), io)),
      getOutHelpWidth: () => io.columns,
      getErrHelpWidth: () => io.errColumns,
    })
  addGlobalOptions(program)
  const declare = createDeclare(program, io, live, finish)
  const all = Object.entries(commands)
  // Declaring all commands takes longer than many a command. The completion is about all of them.
  const called = all.filter(([name]) => name === argv[0] && name !== 'complete')
  for (const [, add] of called.length > 0 ? called : all) add(declare)
  return program
}

/** Describes an option with its choices and its default, but not an empty list as default. */
function describeOption(option: Option): string {
  return new Help().optionDescription(option).replace(/ \(default: \[\]\)$/, '')
}

/** Escapes line ends of arguments that an error quotes; a suggestion stays on a line of its own. */
function escapeArguments(text: string): string {
  return text.replace(/\n(?!$|\(Did you mean)/g, String.raw`\n`)
}

/**
 * Drops the names from commander's message that differ from the unknown name by more than a slip of
 * letters: commander also suggests "init" for "exit".
 */
function dropFarSuggestions(message: string): string {
  return message.replace(
    /^(error: unknown \w+ '([^']*)')\n\(Did you mean (?:one of )?(.+)\?\)/,
    (_whole, error: string, word: string, names: string) => {
      const near = names
        .split(', ')
        .filter((name) => findNearest(withoutDashes(word), [withoutDashes(name)]) !== null)
      if (near.length === 0) return error
      return `${error}\n(Did you mean ${near.length > 1 ? 'one of ' : ''}${near.join(', ')}?)`
    },
  )
}

function withoutDashes(word: string): string {
  return word.replace(/^-+/, '')
}
