import { Option, type Command } from 'commander'
import { grains } from '../../model/statistics.ts'
import type { StatsOptions } from '../stats.ts'
import type { Declare } from './declare.ts'

/** `edgewise stats`: counts of status codes by domain, or summed over domains. */
export function declareStats(program: Command, declare: Declare): void {
  declare<StatsOptions>(program, 'stats [domains...]', {
    description: 'counts of status codes, by domain or summed',
    examples: ['stats', 'stats www.example.com --from 2h --grain minute', 'stats --from 2026-11-01 --to 2026-11-07 --sum --json'],
    run: async (context, args, options) => (await import('../stats.ts')).stats(context, args, options),
  })
    .option('--from <time>', 'YYYY-MM-DD, "YYYY-MM-DD HH:MM", or a time ago such as 2h; 24h without it')
    .option('--to <time>', 'likewise; now without it')
    .addOption(new Option('--grain <grain>', 'how long the periods are; by the length of the time without it').choices(grains))
    .option('--sum', 'one series over all domains; "all" then names every domain of the account')
}
