import type { Declare } from './declare.ts'

/** `edgewise policies`: lists the policies of the workspace, and the exceptions from them. */
export function declarePolicies(declare: Declare): void {
  declare('policies', {
    description: 'list the policies, what they cover, and exceptions with the days left',
    examples: ['policies', 'policies --json'],
    run: async (context) => {
      const { listPolicies } = await import('../../operations/list-policies.ts')
      const { buildPoliciesJson } = await import('../../outlets/report/policies/json.ts')
      const { formatPolicies } = await import('../../outlets/report/policies/text.ts')
      const { openValidWorkspace } = await import('../open.ts')
      const report = await listPolicies(openValidWorkspace(context, 'none'), context.io)
      context.print(
        () => buildPoliciesJson(report),
        () => formatPolicies(report, context.paint),
      )
    },
  }).addHelpText(
    'after',
    `
"edgewise validate" shows the violations with their places, "edgewise explain
policy" how a policy is written.`,
  )
}
