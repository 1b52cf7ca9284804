import type { FmtOptions } from '../fmt.ts'
import type { Declare } from './declare.ts'

/** `edgewise fmt`: formats the files of the workspace in canonical order and style. */
export function declareFmt(declare: Declare): void {
  declare<FmtOptions>('fmt [paths...]', {
    description: 'format files in canonical order and style; comments stay',
    args: ['files, folders and globs of the workspace; all by default; - for stdin to stdout'],
    examples: ['fmt', 'fmt --check domains/shop.yaml', 'fmt - < domains/shop.yaml', 'fmt --schema'],
    run: async (context, args, options) => (await import('../fmt.ts')).fmt(context, args, options),
  })
    .option('--check', 'change nothing; exit with 2 if a file is not formatted')
    .option('--schema', 'write edgewise.schema.json, with which editors complete and check')
    .addHelpText(
      'after',
      `
"edgewise init" and --schema write edgewise.schema.json: one schema for all
files of a workspace, or of all workspaces below its folder in a git repository.
Commit it. With it, files that have no "yaml-language-server" line get one;
existing lines stay. A workspace without it gets no lines. After an update of
edgewise, --schema brings it up to date.`,
    )
}
