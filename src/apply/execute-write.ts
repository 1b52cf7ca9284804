import { isSafeToRepeat, type Write } from '../model/change.ts'
import { attempt, recordItems } from './attempt.ts'
import { bisect } from './bisect.ts'
import { findRewritten } from './returned.ts'
import type { Run } from './run.ts'
import type { Sent } from './send-write.ts'
import { computeSettleWait } from './settling.ts'

/** Sends a write and records what comes of it; a refused one is taken apart. */
export async function executeWrite(write: Write, run: Run): Promise<void> {
  const { result } = run
  const unsure = deltaInDoubt(write, run)
  if (unsure !== null) {
    result.notSent++
    const message = `an earlier write left ${unsure} in doubt; the next apply writes it whole`
    run.tell({ type: 'write.not-sent', time: run.time(), id: write.id, message })
    return
  }
  const before = new Map(write.domains.map((domain) => [domain, new Map(run.recorded.get(domain))]))
  await settled(write, run)
  run.tell({
    type: 'write.started',
    time: run.time(),
    id: write.id,
    domains: write.domains,
    items: Object.keys(write.items),
  })
  const takenApart = (outcome: Sent['outcome']) =>
    outcome.kind === 'refused' && !outcome.fatal && run.isolate
  const { outcome, doubted } = await attempt(write, before, before, run, (came) =>
    takenApart(came) ? [] : [write.id],
  )
  const about = { time: run.time(), id: write.id }
  switch (outcome.kind) {
    case 'confirmed': {
      result.confirmed++
      const items = Object.keys(findRewritten(write.items, outcome.config, run.secrets))
      run.tell({
        type: 'write.confirmed',
        ...about,
        ...(items.length === 0 ? {} : { rewritten: items }),
      })
      return
    }
    case 'refused':
      result.refused++
      run.tell({ type: 'write.refused', ...about, code: outcome.code, message: outcome.message })
      if (outcome.fatal) run.stop(`the service answered HTTP ${outcome.status}: ${outcome.message}`)
      else if (!run.isolate) run.stop(`the service refused a write: ${outcome.message}`)
      if (!takenApart(outcome)) {
        result.refusals.push({
          domains: write.domains,
          items: Object.keys(write.items),
          message: outcome.message,
        })
        return
      }
      await bisect(write, outcome, doubted, before, run)
      await recordItems({ domains: [] }, run, () => new Map(), [write.id])
      return
    case 'in doubt':
      result.inDoubt++
      run.tell({ type: 'write.in-doubt', ...about, message: outcome.message })
      return
    case 'not sent':
      result.notSent++
      run.tell({ type: 'write.not-sent', ...about, message: outcome.message })
      run.stop(outcome.message)
  }
}

/**
 * An item in doubt that a write has only a delta for: a delta is right for the one value that it
 * was made from.
 */
function deltaInDoubt({ domains, items }: Write, run: Run): string | null {
  const deltas = Object.entries(items).flatMap(([item, form]) =>
    isSafeToRepeat(form.name) ? [] : [item],
  )
  for (const domain of domains) {
    const item = deltas.find((each) => run.recorded.get(domain)?.get(each)?.status === 'in-doubt')
    if (item !== undefined) return `${item} of ${domain}`
  }
  return null
}

/** An item in doubt is rewritten no sooner than a write that was given up can have landed. */
async function settled(write: Write, run: Run): Promise<void> {
  const wait = computeSettleWait(write, run.recorded, run.now(), run)
  if (wait === 0) return
  const message = 'an earlier write of these items may still land'
  run.tell({
    type: 'write.waiting',
    time: run.time(),
    id: write.id,
    seconds: Math.ceil(wait / 1000),
    message,
  })
  await run.clock.sleep(wait, run.signal)
}
