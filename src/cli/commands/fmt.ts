import type { Command } from 'commander'
import type { FmtOptions } from '../fmt.ts'
import type { Declare } from './declare.ts'

/** `edgewise fmt`: formats the files of the workspace in canonical order and style. */
export function declareFmt(program: Command, declare: Declare): void {
  declare<FmtOptions>(program, 'fmt', {
    description: 'format files in canonical order and style; comments stay',
    examples: ['fmt', 'fmt --check'],
    run: async (context, args, options) => (await import('../fmt.ts')).fmt(context, args, options),
  }).option('--check', 'change nothing; exit with 2 if a file is not formatted')
}
