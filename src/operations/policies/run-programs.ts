import { catalogue } from '../../core/catalog/catalogue.ts'
import type { Plan } from '../../core/model/plan.ts'
import { bindBasis } from '../../core/plan/basis.ts'
import { listTouched } from '../../core/model/change.ts'
import type { Violation } from '../../core/policy/policy.ts'
import type { DeclaredProgram } from '../../manifest/policies/load-policies.ts'
import { parseFindings, type ProgramFinding } from '../../manifest/policies/parse-findings.ts'
import { runCommand } from '../../manifest/secrets/run-command.ts'
import { buildPlanJson } from '../../outlets/report/plan/json.ts'
import type { Outside } from '../runtime/outside.ts'
import type { Policed } from '../runtime/workspace-parts.ts'
import type { ProgramJudgement } from './check-policies.ts'

/**
 * Runs programs one after the other, each with the JSON of a plan. One that fails, or prints no
 * findings, has violated its policy.
 */
export async function runPrograms(
  workspace: Policed,
  programs: DeclaredProgram[],
  plan: Plan,
  { signal, onPhase }: Pick<Outside, 'signal' | 'onPhase'>,
): Promise<ProgramJudgement[]> {
  const { id, service } = workspace.config
  const basis = bindBasis(plan.basis, { id, address: service.url })
  const wireName = (item: string) => service.itemKeys[item] ?? item
  const input = JSON.stringify(buildPlanJson({ ...plan, basis }, wireName))
  const touched = listTouched(plan)
  const env = workspace.buildProgramEnvironment()
  const judged: ProgramJudgement[] = []
  for (const [done, program] of programs.entries()) {
    onPhase?.({ name: 'running-policies', done, total: programs.length })
    const { command, seconds, name: policy, level, on } = program
    const context = { env, signal, input, seconds, isDetached: true }
    const ran = await runCommand(workspace.root, command, context)
    const found = 'fault' in ran ? ran : parseFindings(ran.text)
    const fault = 'fault' in found ? found.fault : findFault(found, touched)
    const create = (finding: ProgramFinding): Violation => {
      const { message, domain = null, item = null, pointer = '' } = finding
      const text = workspace.scrub(message)
      return { policy, level, on, domain, item, pointer, message: text, fault }
    }
    const violations =
      'fault' in found || fault !== null
        ? [create({ message: `the policy has no answer: ${fault}` })]
        : found.map(create)
    judged.push([program, { violations, judged: 1 }])
  }
  return judged
}

/** Finds a domain or an item that nobody could have violated a policy with. */
function findFault(findings: ProgramFinding[], touched: ReadonlySet<string>): string | null {
  const domain = findings.find((each) => each.domain !== undefined && !touched.has(each.domain))
  if (domain !== undefined) return `it names "${domain.domain}", which the plan does not change`
  const item = findings.find((each) => each.item !== undefined && !catalogue.has(each.item))
  return item === undefined ? null : `it names "${item.item}", which is no item`
}
