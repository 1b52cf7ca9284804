import { Command, type ErrorOptions } from 'commander'

const approving = 'tools for assistants only read. A person runs "edgewise apply PLANFILE".'

const usual =
  'headers that are not given are those of a usual visitor. "--visitor unknown" leaves them open.'
const settled = 'every reading has an answer. "--assume" sets another one. Remove the option.'

/** Options and commands that Edgewise had once, and what to do instead. */
export const removedOptions: Readonly<Record<string, string>> = {
  'plan --run-policies':
    'policies are expressions. Run a program of your own on the output of "edgewise plan --json" ' +
    'in CI, before apply.',
  'plan --effort': 'the planner always makes the same effort. Remove the option.',
  'plan approve': approving,
  check: 'run "edgewise list --outliers".',
  'state show': 'run "edgewise show DOMAIN", with "--at APPLY" for what was recorded then.',
  'trace --sentence': 'the output begins with sentences. Remove the option.',
  'trace --strict': 'every reading has an answer; "--vary" shows what others would change.',
  'trace --no-other-headers': usual,
  'trace --no-other-origin-headers': usual,
  'plan --strict': settled,
  'drift --strict': settled,
  'rollback --strict': settled,
  'lsp --connect': 'the editor no longer reads state in a database; "edgewise show" does.',
  'mcp --allow-apply': approving,
  'mcp --approver': approving,
  'mcp --plans': approving,
}

/** A command that explains what was removed from it. */
export class ExplainingCommand extends Command {
  override createCommand(name?: string): Command {
    return new ExplainingCommand(name)
  }

  /** Fails with what to do instead of an argument that commander did not understand. */
  override error(message: string, options?: ErrorOptions): never {
    const lines = this.args.map((arg) => `${nameCommand(this)} ${arg.replace(/=.*/s, '')}`.trim())
    const line = lines.find((each) => Object.hasOwn(removedOptions, each))
    if (line === undefined) return super.error(message, options)
    return super.error(`error: "edgewise ${line}" was removed: ${removedOptions[line]}`, options)
  }
}

/** Names a command as it is called: "rollout approve"; empty for the program. */
export function nameCommand(command: Command): string {
  const { parent } = command
  return parent === null ? '' : `${nameCommand(parent)} ${command.name()}`.trim()
}
