import type { Command } from 'commander'
import { formatJson } from '../../core/model/json.ts'
import { escapeInvisibleInLines } from '../../outlets/report/text/escape-invisible.ts'
import { exitCodes } from '../exit-codes.ts'
import type { CommandContext, GlobalOptions, Io, LiveLine } from '../io.ts'
import { createPhaseLine } from '../terminal/phase-line.ts'
import { asksForTelemetry } from '../../outlets/telemetry/settings.ts'
import { wrapForStderr, createPaint } from '../terminal/output.ts'
import { nameCommand } from './removed-options.ts'

/** Declaration of a command: its help and its action. */
export interface Declaration<Options> {
  description: string
  /** Descriptions of the arguments, in their order. */
  args?: string[]
  /** Example command lines for the help, without `edgewise`. */
  examples: string[]
  /** Not in the help, nor completed: for other programs. */
  hidden?: boolean
  /** Whether the command is traced if the environment asks for it. */
  traced?: boolean
  /**
   * Runs the command with its arguments and options. Modules are imported here on demand, so that
   * they don't slow down other commands.
   *
   * @returns the exit code; nothing if it is done
   */
  run(context: CommandContext, args: unknown[], options: Options): Promise<number | void>
}

/** Declares commands of the program, or of another command. */
export interface Declare {
  /** Adds a command, and returns it for its own options. */
  <Options = object>(nameAndArguments: string, declaration: Declaration<Options>): Command
  /** Adds a command that has only subcommands, and returns what declares these. */
  group(name: string, description: string, examples: string[]): Declare
}

/**
 * Creates what declares the commands of `parent`; they run with `io` and pass their exit code to
 * `finish`.
 */
export function createDeclare(
  parent: Command,
  io: Io,
  live: LiveLine,
  finish: (code: number) => void,
): Declare {
  const declare = <Options>(nameAndArguments: string, declaration: Declaration<Options>) => {
    const { description, args = [], examples, hidden = false, traced = false, run } = declaration
    const command = parent
      .command(nameAndArguments, { hidden })
      .description(description)
      .addHelpText('after', formatExamples(examples))
      .action(async (...actionArgs: unknown[]) => {
        const self = actionArgs.at(-1) as Command
        const options = self.optsWithGlobals<GlobalOptions>()
        const context = createContext(io, live, options)
        const work = async (own: CommandContext) =>
          (await run(own, actionArgs.slice(0, -2), options as Parameters<typeof run>[2])) ??
          exitCodes.done
        try {
          if (traced && asksForTelemetry(io.env)) {
            const { traceCommand } = await import('../span-command.ts')
            finish(await traceCommand(context, nameCommand(self), work))
          } else finish(await work(context))
        } finally {
          context.phases.end()
        }
      })
    for (const [i, argument] of command.registeredArguments.entries())
      argument.description = args[i] ?? ''
    return addGlobalOptions(command)
  }
  const group: Declare['group'] = (name, description, examples) => {
    const lines = formatExamples(examples.map((example) => `${name} ${example}`))
    const command = parent.command(name).description(description).addHelpText('after', lines)
    return createDeclare(command, io, live, finish)
  }
  return Object.assign(declare, { group })
}

/** Formats the examples at the end of a command's help. */
export function formatExamples(examples: string[]): string {
  return `\nExamples:\n${examples.map((example) => `  $ edgewise ${example}`).join('\n')}`
}

/** Adds {@link GlobalOptions}. */
export function addGlobalOptions(command: Command): Command {
  return command
    .option('-C, --workspace <dir>', 'find edgewise.yaml from this folder upwards')
    .option('--json', 'print machine-readable JSON')
    .option('-y, --yes', 'answer every prompt with yes')
    .option('--no-color', 'disable colours')
    .option('--no-cache', 'use nothing that earlier runs have cached')
    .option('-q, --quiet', 'print results and errors only')
    .option('-v, --verbose', 'print more details')
}

function createContext(io: Io, live: LiveLine, options: GlobalOptions): CommandContext {
  const colour = options.color !== false
  const note = (text: string) => {
    if (options.quiet !== true) io.err(`${wrapForStderr(text, io)}\n`)
  }
  const phases = createPhaseLine(io, options, live, note)
  const { ask, cache, ...others } = io
  const [paint, errPaint] = [
    createPaint(io.outIsTerminal, colour, io.env),
    createPaint(io.errIsTerminal, colour, io.env),
  ]
  const out: Io['out'] = (text, as) => {
    phases.end()
    io.out(text, as)
  }
  return {
    io: {
      ...others,
      ...(options.cache === false || cache === undefined ? {} : { cache }),
      // Results and prompts end the phase before them.
      out,
      ask:
        ask &&
        ((question) => {
          phases.end()
          return ask(question)
        }),
      note: (text) => note(escapeInvisibleInLines(text)),
      onPhase: phases.report,
    },
    options,
    paint,
    errPaint,
    layout: { paint, columns: io.columns, verbose: options.verbose === true },
    live,
    phases,
    print: (json, text) => out(options.json === true ? formatJson(json()) : text()),
    note,
    warn: (text) => note(`${errPaint.yellow('note:')} ${text}`),
  }
}
