import { Option, type Command } from 'commander'
import { grains } from '../../model/statistics.ts'
import type { Declare } from './declare.ts'

/** What the service can be asked: `stats`, `prefetch`. */
export function serviceCommands(program: Command, declare: Declare): void {
  declare(program, 'stats [domains...]', {
    description: 'counts of status codes, by domain or summed',
    examples: ['stats', 'stats www.example.com --from 2h --grain minute', 'stats --from 2026-11-01 --to 2026-11-07 --sum --json'],
    load: async () => (await import('../stats.ts')).stats,
  })
    .option('--from <time>', 'YYYY-MM-DD, "YYYY-MM-DD HH:MM", or a time ago such as 2h; 24h without it')
    .option('--to <time>', 'likewise; now without it')
    .addOption(new Option('--grain <grain>', 'how long the periods are; by the length of the time without it').choices(grains))
    .option('--sum', 'one series over all domains; "all" then names every domain of the account')

  declare(program, 'prefetch', {
    description: 'how far prefetch tasks are, and which failed',
    examples: [
      'prefetch --task 1001 --wait',
      'prefetch --from 2026-11-01 --to 2026-11-07',
      'prefetch --from 2026-11-01 --to 2026-11-07 --json',
    ],
    load: async () => (await import('../prefetch.ts')).prefetch,
  })
    .option('--from <date>', 'with --to: tasks of these days, YYYY-MM-DD')
    .option('--to <date>', 'the last of these days')
    .option('--url <url>', 'with --from and --to: only this URL')
    .option('--task <id>', 'all URLs of one submission')
    .option('--wait', 'until none is waiting or processing; exit with 3 when some failed')
}
