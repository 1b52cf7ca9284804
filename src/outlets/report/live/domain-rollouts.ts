import type { Domain } from '../../../core/model/item.ts'
import type { OpenRollout } from '../../../core/model/listed-rollout.ts'
import { show } from '../page/html.ts'
import { describeOpen } from './headline.ts'

/** Formats the unfinished rollouts of a domain: its wave in each, and what each one does. */
export function formatDomainRollouts(domain: Domain, rollouts: readonly OpenRollout[]): string {
  const notices = rollouts.flatMap((open) => {
    const { id, waves, released } = open.rollout
    const found = waves.findIndex(({ domains }) => domains.includes(domain))
    if (found === -1 && !released.includes(domain)) return []
    // Domains that are only released are in the first wave.
    const index = Math.max(0, found)
    const verb = waves[index]?.passed === true ? 'was' : 'is'
    const link = `<a href="/rollouts/${encodeURIComponent(id)}">Rollout ${show(id)}</a>`
    const state = show(describeOpen(open).text)
    const where = `this domain ${verb} in wave ${index + 1}`
    return [`<p class="callout" data-tone="attention">${link}: ${where}. ${state}</p>\n`]
  })
  return notices.join('')
}
