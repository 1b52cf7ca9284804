// @module-tag often
import { expect, it } from 'vitest'
import { checkGroup, given, maxMs } from '../recordings/check.ts'

it.each(['items', 'pairs'])(
  'commands do what is recorded: %s',
  async (group) => {
    const differences = await checkGroup(group, given)
    if (given.write === true) console.log([`${group}: written`, ...differences].join('\n'))
    else expect(differences).toEqual([])
  },
  maxMs,
)
