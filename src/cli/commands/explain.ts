import type { Command } from 'commander'
import type { Declare } from './declare.ts'

/** `edgewise explain`: describes an item. */
export function declareExplain(program: Command, declare: Declare): void {
  declare(program, 'explain [item]', {
    description: 'describe an item: fields, rules and an example',
    examples: ['explain', 'explain https', 'explain https.force_https'],
    run: async (context, args) => (await import('../explain.ts')).explain(context, args),
  })
}
