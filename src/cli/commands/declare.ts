import type { Command } from 'commander'
import type { CommandContext, GlobalOptions, Io } from '../io.ts'
import { paintFor } from '../terminal/paint.ts'
import { errSentences } from '../terminal/wrap-output.ts'

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
export function declareIn(io: Io, finish: (code: number) => void): Declare {
  return (parent, nameAndArguments, { description, examples, run }) => {
    const command = parent
      .command(nameAndArguments)
      .description(description)
      .addHelpText('after', examplesText(examples))
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
    return globals(command)
  }
}
/** The examples at the end of a command's help. */
export function examplesText(examples: string[]): string {
  return `\nExamples:\n${examples.map((example) => `  $ edgewise ${example}`).join('\n')}`
}

/** Adds the options that every command has: {@link GlobalOptions}. */
export function globals(command: Command): Command {
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
    paint: paintFor(io.outIsTerminal, colour, io.env),
    errPaint: paintFor(io.errIsTerminal, colour, io.env),
    note: (text) => {
      if (options.quiet !== true) io.err(`${errSentences(text, io)}\n`)
    },
  }
}
