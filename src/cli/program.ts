import { Command, CommanderError } from 'commander'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { changeCommands } from './commands/changes.ts'
import { declareIn, examplesText, globals } from './commands/declare.ts'
import { deskCommands } from './commands/desk.ts'
import { recordCommands } from './commands/record.ts'
import { serviceCommands } from './commands/service.ts'
import { workspaceCommands } from './commands/workspace.ts'
import { exits } from './exits.ts'
import type { Io } from './io.ts'
import { paintFor } from './terminal/paint.ts'
import { errSentences } from './terminal/sentences.ts'
import { tellError } from './terminal/print-error.ts'
import { version } from './version.ts'

/**
 * Runs one command line.
 *
 * @param argv the words after the program's name
 * @returns the exit code; failures that have a sentence are told here
 */
export async function run(argv: string[], io: Io): Promise<number> {
  let code: number = exits.done
  const program = buildProgram(io, (exit) => (code = exit))
  try {
    await program.parseAsync(argv, { from: 'user' })
    return code
  } catch (error) {
    const json = argv.includes('--json')
    if (error instanceof CommanderError) {
      if (error.exitCode !== 0 && json)
        tellError(new EdgewiseError('usage', error.message.replace(/^error: /, ''), 'See "edgewise --help".'), io, json, plain(argv, io))
      return error.exitCode === 0 ? exits.done : exits.failed
    }
    if (error instanceof EdgewiseError) {
      tellError(error, io, json, plain(argv, io))
      return exits.failed
    }
    throw error
  }
}

function plain(argv: string[], io: Io) {
  return paintFor(io.errIsTerminal, !argv.includes('--no-color'), io.env)
}

/** The program with its commands, in the order of its help. */
function buildProgram(io: Io, finish: (code: number) => void): Command {
  const program = new Command('edgewise')
    .description('Keeps the configuration of CDN domains as a Git repository says it should be.')
    .addHelpText('after', examplesText(['init cdn', 'plan', 'apply', 'explain https']))
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help of a command')
    .showHelpAfterError('(--help tells more)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.out(text),
      writeErr: (text) => io.err(text),
      outputError: (text, write) => write(errSentences(text, io)),
      getOutHelpWidth: () => io.columns,
      getErrHelpWidth: () => io.columns,
    })
  globals(program)
  const declare = declareIn(io, finish)
  workspaceCommands(program, declare)
  changeCommands(program, declare)
  recordCommands(program, declare)
  serviceCommands(program, declare)
  deskCommands(program, declare)
  return program
}
