import type { Declare } from './declare.ts'

/** `edgewise explain`: describes an item or a field. */
export function declareExplain(declare: Declare): void {
  declare('explain [item]', {
    description: 'describe an item or one of its fields, with an example',
    args: [
      'an item, a field as ITEM.FIELD, policy, readings, or one such as R5; all items without it',
    ],
    examples: ['explain', 'explain https', 'explain cache_rule_list.expire', 'explain readings'],
    run: async (context, args) => (await import('../explain/explain.ts')).explain(context, args),
  }).addHelpText(
    'after',
    `
Names of fields follow the item, separated by dots: ITEM.FIELD or
ITEM.FIELD.FIELD.`,
  )
}
