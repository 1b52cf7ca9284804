import { InvalidArgumentError, Option, type Command } from 'commander'
import type { ApproveOptions } from '../agents/approve-plan.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Declare } from './declare.ts'

/** Hours for which an approval is valid: a day by default, a week at most. */
const [approvalHours, maxHours] = [24, 168]

/** `edgewise plan approve`: signs a saved plan, so that an assistant may apply it. */
export function declarePlanApprove(plan: Command, declare: Declare): void {
  declare<ApproveOptions>(plan, 'approve <planfile>', {
    description: 'approve a saved plan, so that "edgewise mcp --allow-apply" may apply it',
    args: ['a file of "edgewise plan --out"; the approval is written to FILE.approved'],
    examples: ['plan approve plan.json --key ~/.config/edgewise/approver.pem'],
    run: async (context, [planFile], options) => {
      const { approvePlan } = await import('../agents/approve-plan.ts')
      await approvePlan(context, String(planFile), options)
      return exitCodes.done
    },
  })
    .option('--key <file>', 'private Ed25519 key in PEM; or set EDGEWISE_APPROVAL_KEY')
    .option('--hours <n>', 'how long the approval is valid', parseHours, approvalHours)
    .addOption(
      new Option(
        '--server <url>',
        'let "edgewise serve" at this address approve it by its roles; needs EDGEWISE_ID_TOKEN',
      ).conflicts(['key', 'hours']),
    )
}

function parseHours(text: string): number {
  const hours = Number(text)
  if (Number.isInteger(hours) && hours >= 1 && hours <= maxHours) return hours
  throw new InvalidArgumentError(`Expected a number of hours from 1 to ${maxHours}.`)
}
