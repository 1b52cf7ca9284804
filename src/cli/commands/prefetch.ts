import type { Command } from 'commander'
import type { PrefetchOptions } from '../prefetch.ts'
import type { Declare } from './declare.ts'

/** `edgewise prefetch`: how far prefetch tasks are, and which failed. */
export function declarePrefetch(program: Command, declare: Declare): void {
  declare<PrefetchOptions>(program, 'prefetch', {
    description: 'how far prefetch tasks are, and which failed',
    examples: [
      'prefetch --task 1001 --wait',
      'prefetch --from 2026-11-01 --to 2026-11-07',
      'prefetch --from 2026-11-01 --to 2026-11-07 --json',
    ],
    run: async (context, args, options) => (await import('../prefetch.ts')).prefetch(context, args, options),
  })
    .option('--from <date>', 'with --to: tasks of these days, YYYY-MM-DD')
    .option('--to <date>', 'the last of these days')
    .option('--url <url>', 'with --from and --to: only this URL')
    .option('--task <id>', 'all URLs of one submission')
    .option('--wait', 'until none is waiting or processing; exit with 3 when some failed')
}
