import type { Command } from 'commander'
import type { Declare } from './declare.ts'

/** `edgewise check`: lists values that differ from those of nearly all similar domains. */
export function declareCheck(program: Command, declare: Declare): void {
  declare(program, 'check', {
    description: 'list values that differ from those of nearly all similar domains',
    examples: ['check', 'check --outliers --json'],
    run: async (context) => (await import('../checks/outliers.ts')).checkOutliers(context),
  })
    .option('--outliers', 'this check only; it is the only one, so it runs without the option too')
    .addHelpText(
      'after',
      `
Domains are similar if they have a profile in common, or the same items. What
differs is listed if at least 95 % of 10 or more domains have the same value;
one domain may always differ. Nothing here is an error: the exit code is 0.`,
    )
}
