import type { Refusal } from '../../core/model/events.ts'
import type { Part } from '../../core/model/item.ts'
import type { Run } from './run.ts'

/** Reports a refused part of a write with its place in the manifests. */
export function reportRefusal(id: number, refusal: Refusal, run: Run): void {
  const { domains, items, code, message } = refusal
  const [domain = ''] = domains
  const [item = ''] = items
  const place = run.findItemPlace(domain, item)
  run.result.refusals.push({ domains, items, code, message })
  run.report({
    type: 'part.refused',
    id,
    domains,
    items,
    file: place?.file ?? null,
    line: place?.line ?? null,
    code,
    message,
  })
}

/** Reports parts of a write without a known outcome. */
export function reportInDoubt(id: number, parts: Part[], message: string, run: Run): void {
  for (const { domains, items } of parts)
    run.report({ type: 'write.in-doubt', id, domains, items, message })
}

/**
 * Explains why a refused write or part is in-doubt.
 *
 * @param earlier whether an earlier call may have been saved; otherwise the refused one
 */
export function explainPossiblySaved(earlier: boolean): string {
  return earlier
    ? 'an earlier call with these items may have been saved'
    : 'some of the domains may have saved the refused write'
}

/** Explains why a write is in-doubt although the service may have answered it. */
export function explainUnrecorded(error: unknown): string {
  return `its outcome could not be recorded: ${explainError(error)}`
}

export function explainError(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
