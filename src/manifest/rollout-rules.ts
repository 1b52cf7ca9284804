import type { Amount } from '../model/amount.ts'
import type { RolloutConfig } from '../model/config.ts'
import type { Finding } from './finding.ts'
import { createWorkspaceFinding as createFinding } from './workspace-shape.ts'

/** Checks the rules of `rollout` that its schema can't express. */
export function checkRollout({
  waves,
  approval,
}: Pick<RolloutConfig, 'waves' | 'approval'>): Finding[] {
  return [...checkWaves(waves), ...checkApproval(approval, waves.length)]
}

function checkApproval(approval: number[], waves: number): Finding[] {
  return approval.flatMap((number, i) => {
    const pointer = `/rollout/approval/${i}`
    if (number > waves) {
      const which = waves === 1 ? '1, the only wave' : `the number of one of the ${waves} waves`
      return [createFinding(pointer, `expected ${which}, got ${number}`)]
    }
    return approval.indexOf(number) < i
      ? [createFinding(pointer, `the wave ${number} is listed twice. Remove one of the two.`)]
      : []
  })
}

function checkWaves(waves: Amount[]): Finding[] {
  const last = waves.at(-1)
  const pointer = `/rollout/waves/${waves.length - 1}`
  if (last === undefined || !('percent' in last) || last.percent !== 100)
    return [
      createFinding(
        pointer,
        'expected "100%" as the last wave, so that everything is applied in the end',
      ),
    ]
  return waves.flatMap((wave, i) => {
    const before = waves.slice(0, i).findLast((other) => 'percent' in other === 'percent' in wave)
    return before !== undefined && getSize(before) >= getSize(wave)
      ? [
          createFinding(
            `/rollout/waves/${i}`,
            'expected more than in the waves before: waves are cumulative',
          ),
        ]
      : []
  })
}

function getSize(amount: Amount): number {
  return 'percent' in amount ? amount.percent : amount.count
}
