import type { DriftListener } from '../leader/compare-drift.ts'
import { dateDrift, formatCheck } from '../../operations/observation/earlier-reads.ts'
import { parseJson } from '../../core/model/json.ts'
import type { Outside } from '../../operations/runtime/parts.ts'
import { createPageAbout } from '../../operations/history/page-about.ts'
import type { EventListener } from '../../operations/runtime/ports.ts'
import type { RolloutEvent } from '../../outlets/report/apply/rollout-text.ts'
import { buildDriftPage } from '../../outlets/report/page/build-drift-page.ts'
import { formatPage, navPlace } from '../../outlets/report/page/format-page.ts'
import { ignoreUnreachable } from '../../state/postgres/open-database.ts'
import type { StateFiles } from '../../state/store/state-files.ts'

/** The last drift check: its page, and what it has found for the process that makes pages. */
export interface CheckedDrift {
  at: string
  commit: string | null
  page: string
  check: string
}

/** Longest texts of a drift check that are stored, characters. */
const maxStored = 16 * 1024 * 1024

export type DriftMemory = ReturnType<typeof createDriftMemory>

/**
 * Creates the memory of the last drift check of the leader, which all replicas have.
 *
 * @param folder of the file that the leader stores
 */
export function createDriftMemory(
  outside: Pick<Outside, 'clock'>,
  files: Pick<StateFiles, 'add' | 'load'>,
  folder: string,
) {
  const path = `${folder}/drift.json`
  let own: CheckedDrift | null = null
  const loadStored = async () =>
    (parseJson((await files.load(path)).get(path) ?? '') ?? null) as CheckedDrift | null
  let read: { key: string; check: CheckedDrift | null } | null = null
  const keep: DriftListener = async (workspace, found) => {
    const nowMs = outside.clock.now()
    const { commit } = await workspace.findTree()
    const about = createPageAbout(
      workspace,
      outside,
      { target: [], items: [], commit },
      found.notes,
    )
    const last = own ?? (await loadStored().catch(() => null))
    const at = new Date(nowMs).toISOString()
    const drift = dateDrift(found.drift, last?.check, at)
    const page = formatPage(buildDriftPage({ ...found, drift }, nowMs, about), navPlace)
    own = { at, commit, page, check: formatCheck(drift, nowMs) }
    const text = JSON.stringify(own)
    await ignoreUnreachable(files.add(path, text.length > maxStored ? 'null' : text, ''))
  }
  return {
    keep,
    /**
     * Loads the last check; null without one, or if it is too large for others than its leader.
     *
     * @param key of the last check that is known: what was read for it is kept
     */
    load: async (key: string | null): Promise<CheckedDrift | null> => {
      if (own !== null || key === null) return own
      if (read?.key !== key) read = { key, check: await loadStored() }
      return read.check
    },
  }
}

/** Rollouts whose events are kept. */
const maxRollouts = 50

/** Creates the memory of what waves wait for, and of their statistics so far. */
export function createEventMemory() {
  const byRollout = new Map<string, RolloutEvent[]>()
  let rollout = ''
  /** Keeps the last event of a kind. */
  const listen: EventListener = (event) => {
    // All applies of a rollout begin with its id.
    if (event.type === 'apply.started') rollout = event.apply
    if (event.type !== 'wave.waiting' && event.type !== 'wave.watched') return
    const others = list(rollout).filter(({ type }) => type !== event.type)
    // The rollouts that were used last are at the end.
    byRollout.delete(rollout)
    byRollout.set(rollout, [...others, event])
    for (const oldest of [...byRollout.keys()].slice(0, -maxRollouts)) byRollout.delete(oldest)
  }
  /** Lists the events of a rollout, first to last. */
  const list = (id: string): RolloutEvent[] => byRollout.get(id) ?? []
  return { listen, list }
}
