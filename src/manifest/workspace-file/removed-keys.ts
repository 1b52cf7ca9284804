import { getOwn, parsePointer } from '../../core/model/json.ts'

/**
 * What to do instead of keys that files had once, by their path without the numbers of lists. A row
 * counts as soon as the schema lacks its key.
 */
export const removedKeys = {
  workspace: {
    'checks.rule-expensive':
      'expressions are no longer searched for exponential time: the service names no engine. ' +
      'Remove the key.',
    notes:
      'notes of how a plan was made are shown with -v only, and values that stay are ' +
      'differences. Remove the key.',
    'rollout.probe':
      'Edgewise sends no requests of its own. Set "rollout.health.minRequests" and ' +
      '"onLittleData" for domains with few requests, or test them with a program of your own ' +
      'before you approve the next wave.',
    'trace.preset': 'every reading has an answer. "trace.assume" sets another one. Remove the key.',
    'sign.command':
      'programs no longer sign. Name the variable of an Ed25519 key: "sign: {key: {env: NAME}}".',
  },
  policy: {
    command:
      'policies are expressions. Run a program of your own on the output of "edgewise plan ' +
      '--json" in CI, before apply.',
    timeoutSeconds: 'only policies with "command" had it. Remove it.',
  },
} satisfies Record<string, Record<string, string>>

/** Explains that the key at a pointer was removed; null if the kind of file never had it. */
export function explainRemovedKey(kind: keyof typeof removedKeys, pointer: string): string | null {
  const path = parsePointer(pointer)
    .filter((step) => !/^\d+$/.test(step))
    .join('.')
  const advice = getOwn(removedKeys[kind], path)
  return advice === undefined ? null : `"${path}" was removed: ${String(advice)}`
}
