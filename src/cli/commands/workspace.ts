import { Option, type Command } from 'commander'
import type { Declare } from './declare.ts'

/** A workspace from its beginning: `init`, `validate`. */
export function workspaceCommands(program: Command, declare: Declare): void {
  declare(program, 'init [dir]', {
    description: 'make a workspace that works at once',
    examples: ['init', 'init cdn'],
    load: async () => (await import('../init.ts')).init,
  })

  declare(program, 'validate [paths...]', {
    description: 'tell all problems of all manifests',
    examples: ['validate', 'validate domains/shop.yaml', 'validate --format github'],
    load: async () => (await import('../validate.ts')).validate,
  }).addOption(new Option('--format <format>', 'how problems are told').choices(['text', 'json', 'github', 'sarif']).default('text'))
}
