import type { ListedRollout, OpenRollout } from '../../../core/model/listed-rollout.ts'
import type { PageRollout, PageWave, RolloutAbout } from '../../../core/model/page/page-rollout.ts'
import {
  type Given,
  type Rollout,
  findCurrentWave,
  findNextWave,
} from '../../../core/model/rollout.ts'
import { pluralize } from '../../../core/model/text/words.ts'
import type { RolloutEvent } from '../apply/rollout-text.ts'
import { shorten } from './nav.ts'
import {
  type Seen,
  addEvent,
  createSeen,
  describeHealth,
  findRollback,
} from '../page/build-rollout.ts'
import { fitText } from '../page/fit-page.ts'

/** Builds what pages draw of an unfinished rollout: what is recorded, and what was seen of it. */
export function buildOpenRollout(open: OpenRollout, events: RolloutEvent[]): PageRollout {
  const { listed, rollout } = open
  const current = findCurrentWave(rollout) ?? 0
  const waves = rollout.waves.map(({ domains, passed, approval }, i): PageWave => {
    const own = events.filter((event) => 'wave' in event && event.wave === i + 1)
    const approved = approval?.approved ?? null
    const health = describeHealth(findSeen(rollout, i, own), false, fitText)
    const isNext = health.state === 'not-begun' && i === current
    return {
      wave: i + 1,
      domains: domains.length,
      times: null,
      approval:
        approval === undefined || passed
          ? null
          : approved === null
            ? describeNeeded(approval.given ?? [])
            : `approved by ${approved.author}`,
      health: {
        ...health,
        // A wave may have been checked by another process, such as the leader before.
        state: isNext ? 'next' : health.state === 'unchecked' ? 'unseen' : health.state,
      },
      names: domains,
    }
  })
  const about: RolloutAbout = {
    id: rollout.id,
    state: listed.state,
    progress: { wave: listed.wave, waves: listed.waves },
    facts: listFacts(rollout, listed),
    ...describeDecisions(open),
    step: open.step,
    canAbort: listed.state !== 'rolling-back',
    onHold: [],
  }
  return { about, waves, rollback: findRollback(events, fitText) }
}

/** Describes that a wave needs approvals, and who has given one. */
function describeNeeded(given: Given[]): string {
  const names = [...new Set(given.map(({ author }) => author))].join(', ')
  return names === '' ? 'needs approval' : `needs more approvals; ${names} approved`
}

/** Collects what is known of a wave: another process may have done its next step since. */
function findSeen({ waves }: Rollout, waveIndex: number, events: RolloutEvent[]): Seen {
  const { passed = false, applied = null, approval = null } = waves[waveIndex] ?? {}
  const isBegun = applied !== null
  const waits = approval !== null && approval.waitingSince !== null && approval.approved === null
  const seen = createSeen({
    isBegun,
    isWritten: passed || applied?.to != null,
    approval: waits && !isBegun && !passed ? '' : null,
  })
  for (const event of events) {
    if (event.type === 'wave.judged') addEvent(seen, event)
    if (event.type === 'wave.watched' && !passed) addEvent(seen, event)
    const isOver = 'reason' in event && event.reason === 'baseline' ? isBegun : passed
    if (event.type === 'wave.waiting' && !isOver) addEvent(seen, event)
  }
  return seen
}

function listFacts(
  { paused }: Rollout,
  { since, apply, ...about }: ListedRollout,
): RolloutAbout['facts'] {
  return [
    { label: 'In this state since', text: since, kind: 'time' },
    ...(paused === undefined
      ? []
      : [{ label: 'Paused by', text: paused.author, kind: 'text' as const }]),
    ...listStart(about),
    ...(apply === null ? [] : [{ label: 'Last apply', text: apply, kind: 'text' as const }]),
  ]
}

function listStart({
  startedAt,
  author,
  commit,
}: Pick<Rollout, 'startedAt' | 'author' | 'commit'>): RolloutAbout['facts'] {
  return [
    { label: 'Started', text: startedAt, kind: 'time' },
    { label: 'Author', text: author ?? 'unknown', kind: 'text' },
    { label: 'Commit', text: shorten(commit ?? 'unknown'), kind: 'code' },
  ]
}

function describeDecisions({
  listed: { state, wave, domains, command },
  rollout,
}: OpenRollout): Pick<RolloutAbout, 'decisions' | 'note' | 'command'> {
  if (state === 'rolling-back')
    return {
      decisions: [],
      note: 'The leader finishes the rollback; by hand, this does:',
      command,
    }
  const size = pluralize(domains, 'domain')
  const approve = { verb: 'approve', label: `Approve wave ${wave} (${size})` } as const
  const next =
    state === 'paused'
      ? [{ verb: 'resume', label: 'Resume' } as const]
      : findNextWave(rollout) === null
        ? []
        : [{ verb: 'pause', label: 'Pause' } as const]
  return {
    decisions: [...(state === 'waiting-for-approval' ? [approve] : []), ...next],
    note: '',
    command: '',
  }
}

/** Builds what pages draw of a rollout that has ended and put domains on hold. */
export function buildEndedRollout(rollout: Rollout): PageRollout {
  const { id, onHold, reason } = rollout
  const about: RolloutAbout = {
    id,
    state: 'ended',
    progress: null,
    facts: listStart(rollout),
    note: `${reason ?? 'It was stopped'}. Change the manifests of its domains, or run`,
    command: 'edgewise apply --retry-held',
    step: '',
    decisions: [],
    canAbort: false,
    onHold: Object.keys(onHold),
  }
  return { about, waves: [], rollback: null }
}
