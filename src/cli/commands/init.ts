import type { Command } from 'commander'
import type { Declare } from './declare.ts'

interface InitOptions {
  /** What the workflow runs: `OWNER/REPO@SHA`. */
  action?: string
}

/** `edgewise init`: writes a workspace that works as it stands. */
export function declareInit(program: Command, declare: Declare): void {
  declare<InitOptions>(program, 'init [dir]', {
    description: 'make a workspace that works at once',
    examples: [
      'init',
      'init cdn',
      'init --action cdn/edgewise@0123456789abcdef0123456789abcdef01234567',
    ],
    run: async (context, args, options) =>
      (await import('../init/write-workspace.ts')).init(context, args, options),
  })
    .option('--action <owner/repo@sha>', 'write a workflow that runs Edgewise from this commit')
    .addHelpText(
      'after',
      `
OWNER/REPO is the repository of Edgewise on the code host, or your copy of it.
SHA is a commit of 40 hex digits: a tag can be moved to other code later. In a
workspace that is there already, --action writes the workflow and nothing else.`,
    )
}
