import type { OpenRollout } from '../../../core/model/listed-rollout.ts'
import type {
  PageRollout,
  PageWave,
  RolloutAbout,
  RolloutFact,
  WaveState,
} from '../../../core/model/page/page-rollout.ts'
import {
  type Given,
  type Rollout,
  findCurrentWave,
  findNextWave,
} from '../../../core/model/rollout.ts'
import { describeTree } from '../../../core/model/source-tree.ts'
import { pluralize } from '../../../core/model/text/words.ts'
import type { RolloutEvent } from '../apply/rollout-text.ts'
import { type Seen, addEvent, createSeen, describeHealth } from '../page/build-rollout.ts'
import { fitText } from '../page/fit-page.ts'

/** Builds what pages draw of an unfinished rollout: what is recorded, and what was seen of it. */
export function buildOpenRollout(open: OpenRollout, events: RolloutEvent[]): PageRollout {
  const { listed, rollout } = open
  const about: RolloutAbout = {
    id: rollout.id,
    state: listed.state,
    progress: { wave: listed.wave, waves: listed.waves },
    facts: [
      ['In this state since', listed.since, true],
      ['Paused by', rollout.paused?.author ?? null],
      ...listStart(rollout),
      ['Last apply', listed.apply],
    ],
    ...describeDecisions(open),
    step: open.step,
    canAbort: listed.state !== 'rolling-back',
    onHold: [],
  }
  return build(about, rollout, events)
}

function build(about: RolloutAbout, rollout: Rollout, events: RolloutEvent[]): PageRollout {
  const { state, reason, waves } = rollout
  // A rollback by a person has no waves.
  const isBack = state.startsWith('roll') && waves.length > 0
  return {
    about,
    waves: buildWaves(rollout, events),
    rollback: isBack ? { reason: reason ?? '' } : null,
  }
}

/** States of the current wave where no more is known: it is next, or another process checks it. */
const currentStates: Partial<Record<WaveState, WaveState>> = {
  'not-begun': 'next',
  unchecked: 'running',
}

function buildWaves(rollout: Rollout, events: RolloutEvent[]): PageWave[] {
  const isOpen = rollout.state === 'open'
  const current = isOpen ? findCurrentWave(rollout) : null
  return rollout.waves.map(({ domains, more = 0, passed, approval }, i): PageWave => {
    const own = events.filter((event) => 'wave' in event && event.wave === i + 1)
    const approved = approval?.approved ?? null
    const needs =
      approval === undefined || passed || !isOpen ? null : describeNeeded(approval.given ?? [])
    const health = describeHealth(findSeen(rollout, i, own), false, fitText)
    const state = i === current ? currentStates[health.state] : undefined
    return {
      wave: i + 1,
      domains: domains.length + more,
      times: null,
      approval: approved === null ? needs : `approved by ${approved.author}`,
      health: { ...health, state: state ?? health.state },
      names: domains,
    }
  })
}

/** Describes that a wave needs approvals, and who has given one. */
function describeNeeded(given: Given[]): string {
  const names = [...new Set(given.map(({ author }) => author))].join(', ')
  return names === '' ? 'needs approval' : `needs more approvals; ${names} approved`
}

/** Collects what is known of a wave: another process may have done its next step since. */
function findSeen({ waves, state }: Rollout, waveIndex: number, events: RolloutEvent[]): Seen {
  const { passed = false, applied = null, approval = null, judged } = waves[waveIndex] ?? {}
  const isBegun = applied !== null
  const waits = approval !== null && approval.waitingSince !== null && approval.approved === null
  const seen = createSeen({
    isBegun,
    isWritten: passed || applied?.to != null,
    approval: waits && !isBegun && !passed && state === 'open' ? '' : null,
  })
  if (judged !== undefined) addEvent(seen, judged)
  for (const event of events) {
    if (event.type === 'wave.watched' && !passed) addEvent(seen, event)
    const isOver = 'reason' in event && event.reason === 'baseline' ? isBegun : passed
    if (event.type === 'wave.waiting' && !isOver) addEvent(seen, event)
  }
  return seen
}

function listStart(rollout: Rollout): RolloutFact[] {
  return [
    ['Started', rollout.startedAt, true],
    ['Author', rollout.author ?? 'unknown'],
    ['Manifests', describeTree(rollout) ?? 'unknown'],
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

const lifts = 'Change the manifests, or send the values again:'

/**
 * Builds what pages draw of a rollout that has ended.
 *
 * @param left what rollouts have left, and what to do about it
 */
export function buildEndedRollout(rollout: Rollout, left: readonly string[]): PageRollout {
  const { id, state, reason, endedAt } = rollout
  const onHold = Object.keys(rollout.onHold)
  const own = left.filter((text) => text.includes(id)).join('. ')
  const about: RolloutAbout = {
    id,
    state,
    progress: null,
    facts: [...listStart(rollout), ['Ended', endedAt, true]],
    note: own || [reason ?? [], onHold.length === 0 ? [] : lifts].flat().join('. '),
    command: own !== '' || onHold.length === 0 ? '' : 'edgewise apply --retry-held',
    step: '',
    decisions: [],
    canAbort: false,
    onHold,
  }
  return build(about, rollout, [])
}
