import { Option } from 'commander'
import type { ValidateOptions } from '../validate.ts'
import type { Declare } from './declare.ts'
import { addLevelOptions } from './options.ts'

/** `edgewise validate`: reports every problem of all manifests in one run. */
export function declareValidate(declare: Declare): void {
  const command = declare<ValidateOptions>('validate [paths...]', {
    description: 'check all manifests; report every problem',
    args: ['files, folders and globs of the workspace; by default all but tests'],
    examples: ['validate', "validate domains/shop.yaml 'domains/eu/*'", 'validate --format github'],
    run: async (context, args, options) =>
      (await import('../validate.ts')).validate(context, args, options),
  })
  addLevelOptions(command)
    .addOption(
      new Option('--format <format>', 'output format')
        .choices(['text', 'json', 'github', 'sarif'])
        .default('text'),
    )
    .option('--fix', 'remove repeated rules and redundant entries, after a question')
    .option('--allow-empty', 'accept a workspace without a manifest')
    .addHelpText(
      'after',
      `
A path is a file, a folder or a glob, relative to the current folder. A manifest
is checked with the profiles that it uses, a profile with the manifests that use
it. Files of tests are checked for their form, other files of the workspace are
left to the commands that use them. A path that matches none is an error.

--fix removes rules that repeat an earlier one, and entries that another one
repeats or contains. It shows a diff, asks, and checks again. Comments stay.`,
    )
}
