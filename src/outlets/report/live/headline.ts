import {
  describeStop,
  type FoundStop,
  type OpenRollout,
  type Overview,
} from '../../../core/model/listed-rollout.ts'
import { findNextWave } from '../../../core/model/rollout.ts'
import { listCounts, pluralize } from '../../../core/model/text/words.ts'
import { shorten } from './nav.ts'

/** A sentence about the whole, and how much it matters. */
export interface Headline {
  tone: 'attention' | 'problem' | 'busy' | 'fine'
  text: string
  /** Page that it leads to; absent for none. */
  href?: string
}

/**
 * Lists what there is to know, the most important first: what waits for somebody, what was stopped,
 * what failed or drifted, what runs. There is always one.
 */
export function listHeadlines(overview: Overview): Headline[] {
  const { stop, rollouts } = overview
  const headlines: Headline[] = [
    ...(stop === null ? [] : [{ tone: 'problem' as const, text: describeStopped(stop) }]),
    ...rollouts.filter(({ listed }) => waits(listed.state)).map(describeWaiting),
    ...describeWork(overview),
    ...describeFailure(overview),
    ...describeDrift(overview),
    ...rollouts.filter(({ listed }) => !waits(listed.state)).map(describeRunning),
  ]
  return headlines.length === 0 ? [describeCalm(overview)] : headlines
}

function describeStopped(stop: FoundStop): string {
  const text = describeStop(stop)
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}

const waits = (state: string) => state === 'waiting-for-approval' || state === 'paused'

/** Describes what an unfinished rollout does, or waits for. */
export function describeOpen(open: OpenRollout): Headline {
  return waits(open.listed.state) ? describeWaiting(open) : describeRunning(open)
}

function describeWaiting({ listed, rollout }: OpenRollout): Headline {
  const { wave, waves, domains, state } = listed
  const text =
    state === 'paused'
      ? `The rollout is paused before wave ${(findNextWave(rollout) ?? 0) + 1} of ${waves}.`
      : `Wave ${wave} of ${waves} waits for approval: ${pluralize(domains, 'domain')}.`
  return { tone: 'attention', text }
}

function describeRunning({ listed, rollout }: OpenRollout): Headline {
  const { wave, waves, domains, state } = listed
  const name = `Wave ${wave} of ${waves}`
  const size = pluralize(domains, 'domain')
  switch (state) {
    case 'rolling-back':
      return { tone: 'problem', text: `The rollback of rollout ${rollout.id} is unfinished.` }
    case 'interrupted':
    case 'incomplete':
      return { tone: 'problem', text: `${name} is ${state} (${size}); the rest is sent again.` }
    case 'running':
      return { tone: 'busy', text: `${name} is being sent: ${size}.` }
    case 'pausing':
      return { tone: 'busy', text: `${name} is sent: the pause or the health check runs.` }
    default:
      return { tone: 'busy', text: `${name} begins soon: ${size}.` }
  }
}

/** Describes what rollouts have left, and what keeps this replica from its work. */
function describeWork({ applied, role, unattended, working, problem }: Overview): Headline[] {
  const texts = [
    ...(applied?.left ?? []).map((text) => `${text}.`),
    ...(role === 'ending' ? ['This replica ends: it leads no more.'] : []),
    ...unattended.map(
      (id) =>
        `Nothing works on rollout ${id}, whose next step is due` +
        (working === null ? '.' : `: this replica is at ${working.what}.`),
    ),
    ...(problem === null ? [] : [`At the moment: ${problem}`]),
  ]
  return texts.map((text) => ({ tone: 'problem', text }))
}

function describeFailure({ applied, commit }: Overview): Headline[] {
  if (applied === null) return []
  const { status, left = [] } = applied
  // A rollout that waits, and what others left, is described by itself.
  const message = left.join('; ').includes(applied.message ?? '') ? null : applied.message
  if (status === 'waiting' || (status === 'done' && message === null)) return []
  const isPart = status === 'done' || status === 'incomplete'
  const what = isPart ? 'is not applied as a whole' : 'is not applied'
  const name = `Commit ${shorten(applied.commit)}`
  const later = commit === null || commit === applied.commit ? '' : ', and a later one is next'
  const text = `${name} ${what}${later}: ${message ?? status}`
  return [{ tone: 'problem', text }]
}

/** Describes what the last drift check has found; nothing if that is none. */
export function describeDrift({ drift }: Overview): Headline[] {
  const { live = 0, inDoubt = 0, unanswered = 0 } = drift ?? {}
  const parts = listCounts([
    [live, 'item of the service differed from state', 'items of the service differed from state'],
    [inDoubt, 'item in-doubt', 'items in-doubt'],
    [unanswered, 'domain not at the service', 'domains not at the service'],
  ])
  if (parts.length === 0) return []
  return [{ tone: 'attention', text: `Last drift check: ${parts.join(', ')}.`, href: '/drift' }]
}

function describeCalm({ applied, commit }: Overview): Headline {
  if (applied !== null && applied.commit === commit && applied.status === 'done')
    return { tone: 'fine', text: `Commit ${shorten(applied.commit)} is applied, nothing waits.` }
  if (commit === null) return { tone: 'busy', text: 'The branch is not fetched yet.' }
  return { tone: 'busy', text: `Commit ${shorten(commit)} is not applied yet.` }
}
