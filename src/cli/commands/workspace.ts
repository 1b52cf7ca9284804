import { Option, type Command } from 'commander'
import type { Declare } from './declare.ts'

/** A workspace from its beginning: `init`, `validate`. */
export function workspaceCommands(program: Command, declare: Declare): void {
  declare(program, 'init [dir]', {
    description: 'make a workspace that works at once',
    examples: ['init', 'init cdn', 'init --action cdn/edgewise@0123456789abcdef0123456789abcdef01234567'],
    load: async () => (await import('../init.ts')).init,
  })
    .option('--action <owner/repo@sha>', 'write a workflow that runs Edgewise from this commit')
    .addHelpText(
      'after',
      `
OWNER/REPO is the repository of Edgewise on the code host, or your copy of it.
SHA is a commit of 40 hex digits: a tag can be moved to other code later. In a
workspace that is there already, --action writes the workflow and nothing else.`,
    )

  declare(program, 'validate [paths...]', {
    description: 'tell all problems of all manifests',
    examples: ['validate', 'validate domains/shop.yaml', 'validate --format github'],
    load: async () => (await import('../validate.ts')).validate,
  }).addOption(new Option('--format <format>', 'how problems are told').choices(['text', 'json', 'github', 'sarif']).default('text'))
}
