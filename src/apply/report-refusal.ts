import type { Refusal, Run } from './run.ts'

/** Reports a refused part of a write with its place in the manifests. */
export function reportRefusal(id: number, refusal: Refusal, run: Run): void {
  const { domains, items, code, message } = refusal
  const [domain = ''] = domains
  const [item = ''] = items
  const place = run.findItemPlace(domain, item)
  run.result.refusals.push({ domains, items, code, message })
  run.report({
    type: 'part.refused',
    time: run.time(),
    id,
    domains,
    items,
    file: place?.file ?? null,
    line: place?.line ?? null,
    code,
    message,
  })
}
