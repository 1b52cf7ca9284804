import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { CommandContext } from '../io.ts'
import { wrapForStderr } from '../terminal/wrap-output.ts'
import { inferHost, parsePin, pinForms, type CiHost, type Pin } from './pin.ts'

/** Options of `edgewise init`. */
export interface InitOptions {
  ci?: CiHost | 'none'
  /** What the workflow runs, pinned by hash. */
  action?: string
}

/**
 * Parses the options: what a workflow runs; null for no workflow, undefined without these options.
 *
 * @throws EdgewiseError `usage`
 */
export function parseChoice({ ci, action }: InitOptions): Pin | null | undefined {
  if (ci === 'none') {
    if (action === undefined) return null
    throw new EdgewiseError(
      'usage',
      '--ci none writes no workflow, so --action has no effect',
      'Leave out one of them.',
    )
  }
  if (action !== undefined) return parsePin(ci ?? inferHost(action), action)
  if (ci === undefined) return undefined
  throw new EdgewiseError(
    'usage',
    `--ci ${ci} needs --action ${pinForms[ci]}: what the workflow runs, pinned by a hash`,
    `"edgewise help init" describes it. Without a workflow: edgewise init --ci none`,
  )
}

/**
 * Asks for the CI service and what to run; null for no workflow, undefined if nobody can be asked.
 *
 * @throws EdgewiseError `declined` if the user ends the question
 */
export async function askForPin({ io, options }: CommandContext): Promise<Pin | null | undefined> {
  if (io.prompt === null || options.yes === true || options.json === true) return undefined
  for (;;) {
    const given = await ask(io, 'Workflow for which CI? github, gitlab or none [none]: ')
    const answer = given.toLowerCase()
    if (answer === '' || answer === 'none') return null
    if (answer === 'github' || answer === 'gitlab') return askForReference(io, answer)
    io.err(`expected github, gitlab or none, got "${given}"\n`)
  }
}

async function askForReference(io: CommandContext['io'], host: CiHost): Promise<Pin | null> {
  for (;;) {
    const answer = await ask(io, `What it runs, as ${pinForms[host]} [no workflow]: `)
    if (answer === '') return null
    try {
      return parsePin(host, answer)
    } catch (error) {
      if (!(error instanceof EdgewiseError)) throw error
      io.err(`${wrapForStderr(`${error.message}\n${error.hint}`, io)}\n`)
    }
  }
}

async function ask({ prompt }: CommandContext['io'], question: string): Promise<string> {
  const answer = await prompt?.(question)
  if (typeof answer === 'string') return answer.trim()
  throw new EdgewiseError(
    'declined',
    'no answer; nothing was written',
    'Pass --ci none to skip it.',
  )
}
