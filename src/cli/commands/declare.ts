import type { Command } from 'commander'
import type { CommandContext, GlobalOptions, Io } from '../io.ts'
import { createPaint } from '../terminal/paint.ts'
import { wrapForStderr } from '../terminal/wrap-output.ts'

/** A command as it is declared: its words in the help, and what it does. */
export interface Declaration<Options> {
  description: string
  /** Command lines after `edgewise`, for the help. */
  examples: string[]
  /**
   * Runs the command with its arguments and options. It imports what it works with when it is
   * called, so that no other command waits for that.
   *
   * @returns the exit code
   */
  run(context: CommandContext, args: unknown[], options: Options): Promise<number>
}

/** Adds a command below the program or another command. Returns it, for options of its own. */
export type Declare = <Options = object>(
  parent: Command,
  nameAndArguments: string,
  declaration: Declaration<Options>,
) => Command

/** Declares commands that run in a world and hand their exit code to `finish`. */
export function createDeclare(io: Io, finish: (code: number) => void): Declare {
  return (parent, nameAndArguments, { description, examples, run }) => {
    const command = parent
      .command(nameAndArguments)
      .description(description)
      .addHelpText('after', formatExamples(examples))
      .action(async (...given: unknown[]) => {
        const self = given.at(-1) as Command
        const options = self.optsWithGlobals<GlobalOptions>()
        finish(
          await run(
            contextOf(io, options),
            given.slice(0, -2),
            options as Parameters<typeof run>[2],
          ),
        )
      })
    return addGlobalOptions(command)
  }
}
/** The examples at the end of a command's help. */
export function formatExamples(examples: string[]): string {
  return `\nExamples:\n${examples.map((example) => `  $ edgewise ${example}`).join('\n')}`
}

/** Adds the options that every command has: {@link GlobalOptions}. */
export function addGlobalOptions(command: Command): Command {
  return command
    .option('-C, --workspace <dir>', 'folder to look for edgewise.yaml from')
    .option('--json', 'print JSON for programs')
    .option('-y, --yes', 'answer every question with yes')
    .option('--no-color', 'no colours')
    .option('-q, --quiet', 'results and errors only')
    .option('-v, --verbose', 'tell more')
}

function contextOf(io: Io, options: GlobalOptions): CommandContext {
  const colour = options.color !== false
  return {
    io,
    options,
    paint: createPaint(io.outIsTerminal, colour, io.env),
    errPaint: createPaint(io.errIsTerminal, colour, io.env),
    note: (text) => {
      if (options.quiet !== true) io.err(`${wrapForStderr(text, io)}\n`)
    },
  }
}
