import type { Command } from 'commander'
import type { Declare } from './declare.ts'

interface InitOptions {
  /** Repository and commit that the workflow runs: `OWNER/REPO@SHA`. */
  action?: string
}

/** `edgewise init`: creates a workspace that is ready to plan. */
export function declareInit(program: Command, declare: Declare): void {
  declare<InitOptions>(program, 'init [dir]', {
    description: 'create a workspace that is ready to plan',
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
SHA is a commit of 40 hex digits: a tag can be moved to other code later. In an
existing workspace, --action writes only the workflow.`,
    )
}
