import { Option } from 'commander'
import type { InitOptions } from '../init/choose-pin.ts'
import type { Declare } from './declare.ts'

/** `edgewise init`: creates a workspace that is ready to plan. */
export function declareInit(declare: Declare): void {
  declare<InitOptions>('init [dir]', {
    description: 'create a workspace that is ready to plan',
    args: ['the folder; the current one by default'],
    examples: [
      'init',
      'init cdn --ci none',
      'init --ci github \\\n      --action cdn/edgewise@0123456789abcdef0123456789abcdef01234567',
    ],
    run: async (context, args, options) =>
      (await import('../init/write-workspace.ts')).init(context, args, options),
  })
    .addOption(
      new Option('--ci <service>', 'write workflows for this CI service').choices([
        'github',
        'gitlab',
        'none',
      ]),
    )
    .option('--action <pinned>', 'program that the workflows run, pinned by a hash')
    .addHelpText(
      'after',
      `
The id of the workspace is one that no other workspace of the repository has:
state is kept by id.

The workflows plan pull requests, apply merged changes after an approval, and
detect drift. In an existing workspace, init adds them and nothing else. It
replaces no file.

--action for github: OWNER/REPO@SHA
  the repository of Edgewise, or your copy of it, and the commit of a version:
  40 hex digits
--action for gitlab: IMAGE@sha256:DIGEST
  a container image with edgewise, git and sh, and its digest

A tag can be moved to other code later; a hash can't.`,
    )
}
