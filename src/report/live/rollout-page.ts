import type { ApplyEvent } from '../../model/events.ts'
import type { OpenRollout } from '../../model/overview.ts'
import { findCurrentWave, isSent, type Rollout, type RolloutWave } from '../../model/rollout.ts'
import { pluralize } from '../../model/words.ts'
import { formatRolloutEvent, type RolloutEvent } from '../apply/rollout-text.ts'
import { buildRollout } from '../page/build-rollout.ts'
import { formatCharts } from '../page/format-charts.ts'
import { fitRollout } from '../page/static-rollout.ts'
import { plainPaint } from '../text/paint.ts'
import { formatLivePage } from './frame.ts'
import { formatInstant, type Place } from './nav.ts'
import { formatNotice, type Notice } from './overview.ts'
import { formatDecision, formatRollout, getRolloutPath, show, type FormToken } from './rollout.ts'

/** Events of waves, as the process has seen them. */
export type WaveEvent = Extract<ApplyEvent, RolloutEvent>

/** Formats the page of an unfinished rollout. */
export function formatRolloutPage(
  open: OpenRollout,
  events: WaveEvent[],
  place: Place,
  token: FormToken,
  notice: Notice | null,
): string {
  const { main: health, ...more } = formatHealth(open, events)
  const main = [formatNotice(notice), formatRollout(open, token, 1), health, formatEvents(events)]
  const title = `Rollout ${open.rollout.id}: wave ${open.listed.wave} of ${open.listed.waves}`
  return formatLivePage({ title, main: main.join('\n'), place, ...more })
}

/** Formats the health of the waves: what the rollout has recorded, and what was seen of it. */
function formatHealth({ rollout, listed }: OpenRollout, events: WaveEvent[]) {
  const time = rollout.startedAt
  const about = { apply: rollout.id, writes: 0, releases: 0, waves: rollout.waves.length }
  const all = rollout.waves.map((wave, i) => ({ id: i, wave: i + 1, ...wave }))
  const isOver = (wave: RolloutWave) => isSent(wave) || wave.passed
  const begun = all.filter((wave) => !isOver(wave) && wave.applied !== null)
  const known: ApplyEvent[] = [
    { type: 'apply.started', time, ...about },
    ...all.filter(isOver).map(({ wave }): ApplyEvent => ({ type: 'wave.finished', time, wave })),
    ...events.filter((event) => isCurrent(event, rollout, listed)),
    ...begun.map(({ id, domains }): ApplyEvent => ({
      type: 'write.started',
      time,
      id,
      domains,
      items: [],
    })),
  ]
  const built = buildRollout(known, begun, (text) => text)
  if (built === null || built.waves.length === 0) return { main: '', head: '', end: '' }
  // A wave may have been checked by another process, such as the leader before.
  const waves = built.waves.map((wave) =>
    wave.state === 'unchecked' ? { ...wave, state: 'unseen' as const } : wave,
  )
  return formatCharts(fitRollout({ ...built, waves }))
}

/** Reports whether what was seen still holds: another process may have done the next step. */
function isCurrent(
  event: WaveEvent,
  { waves }: Rollout,
  { wave, state }: OpenRollout['listed'],
): boolean {
  const { passed = false, applied = null } = 'wave' in event ? (waves[event.wave - 1] ?? {}) : {}
  switch (event.type) {
    case 'rollout.waiting-for-approval':
      return event.wave === wave && (state === 'waiting-for-approval' || state === 'paused')
    case 'wave.waiting':
      return event.reason === 'baseline' ? applied === null : !passed
    case 'wave.watched':
      return !passed
    default:
      return true
  }
}

function formatEvents(events: WaveEvent[]): string {
  const rows = events.map((event) => {
    const line = formatRolloutEvent(event, plainPaint).replace(/^(\S+) +/, '$1: ')
    const verdict = event.type === 'wave.judged' ? ` data-verdict="${event.verdict}"` : ''
    return `<li${verdict}>${formatInstant(event.time)} <span>${show(line)}</span></li>`
  })
  const list =
    rows.length === 0
      ? '<p class="note">This replica has seen none: the leader has those since its start.</p>'
      : `<ol>${rows.toReversed().join('')}</ol>`
  return (
    '<section class="panel events" aria-labelledby="events">' +
    `<h2 id="events">Events of its waves</h2>${list}</section>`
  )
}

/** Formats the question whether to abort, with what will happen. */
export function formatAbortPage(open: OpenRollout, place: Place, token: FormToken): string {
  const { rollout, listed, step } = open
  const sent = rollout.waves.filter((wave) => wave.passed || isSent(wave))
  const left = rollout.waves.filter((wave) => !wave.passed && !isSent(wave))
  const count = (waves: typeof sent) =>
    pluralize(
      waves.reduce((sum, { domains }) => sum + domains.length, 0),
      'domain',
    )
  const wave = `wave ${(findCurrentWave(rollout) ?? 0) + 1} of ${listed.waves}`
  const running =
    listed.state === 'running'
      ? '<li>The wave that is being sent ends first; if that takes long, this is refused, and ' +
        'nothing is decided.</li>'
      : ''
  const effect =
    left.length === 0 ? 'All of its domains are sent.' : `${count(left)} would be on hold.`
  const path = getRolloutPath(rollout.id)
  const main =
    `<section class="panel confirm"><p class="eyebrow">Rollout ${show(rollout.id)}, ${wave}</p>` +
    `<h1>Abort the rollout? ${effect}</h1>` +
    `<ul><li>Already sent: ${count(sent)} (${pluralize(sent.length, 'wave')}). Nothing of it is ` +
    'rolled back.</li>' +
    `<li>Not sent: ${count(left)} (${pluralize(left.length, 'wave')}), on hold until the ` +
    'manifests change.</li>' +
    `${running}<li>It can't be undone here. <code>edgewise apply --retry-held</code> applies the ` +
    'changes on hold.</li></ul>' +
    '<div class="decisions">' +
    formatDecision(`${path}/abort`, 'Abort the rollout', 'danger', step, token) +
    `<a class="button secondary" href="${path}">Keep it</a></div></section>`
  return formatLivePage({ title: `Abort rollout ${rollout.id}?`, main, place })
}
