import type { Configured } from '../../operations/runtime/workspace-parts.ts'
import { EdgewiseError, throwDefect } from '../../core/model/edgewise-error.ts'
import type { Diagnostic } from '../../core/model/problem.ts'
import { FileMemory } from '../../manifest/manifests/cache/file-memory.ts'
import { loadWorkspace, type LoadedWorkspace } from '../../operations/runtime/load-workspace.ts'
import type { KnownState, loadDatabaseState } from '../../operations/runtime/database-state.ts'
import { loadLocalState } from '../../operations/runtime/local-state.ts'
import { loadSalt } from '../../operations/runtime/open-state.ts'
import type { Outside } from '../../operations/runtime/outside.ts'
import { createKnownRules, type KnownRules } from '../../operations/rule-findings.ts'
import { judgeWorkspace } from '../../operations/validate.ts'

/** Number of results about rule lists that are kept: each edit adds some. */
const maxKnownRules = 20_000
/** Work that one list may take: an edit of it waits for no more. */
const maxListStates = 3000
/** Time for which answers about places use the same recorded state, ms. */
const keptMs = 2000
/** Time for which a state that is not on this machine, or its lack, is used, ms. */
const sharedMs = 30_000
/** Maximum time that an answer about a place waits for such a state, ms. */
const maxWaitMs = 1000

/** Loads a state that is not on this machine; null for one that is. */
export type LoadShared = typeof loadDatabaseState

/** A workspace with the unsaved texts of an editor, as it was last loaded. */
export class CheckedWorkspace {
  readonly root: string
  readonly memory = new FileMemory()
  /** Null as long as the workspace file is not valid. */
  loaded: LoadedWorkspace | null = null
  diagnostics: Diagnostic[] = []
  readonly #outside: Outside
  readonly #rules = { readings: '', known: createKnownRules(maxListStates) }
  #generation = 0
  #recorded: { until: number; state: ReturnType<typeof loadLocalState> } | null = null

  readonly #loadShared: LoadShared
  readonly #log: (error: unknown) => void
  #shared: { key: string; until: number; state: Promise<KnownState | null> } | null = null

  /** @param root folder of `edgewise.yaml` */
  constructor(
    root: string,
    outside: Outside,
    loadShared: LoadShared,
    log: (error: unknown) => void,
  ) {
    this.root = root
    this.#outside = outside
    this.#loadShared = loadShared
    this.#log = log
  }

  /**
   * Loads what has changed, and finds the problems that `validate` reports. Looks no secret up, and
   * runs no program.
   *
   * @returns false if a later check has begun meanwhile
   * @throws EdgewiseError without diagnostics if there is no workspace
   */
  async check(): Promise<boolean> {
    const generation = ++this.#generation
    try {
      const loaded = loadWorkspace(this.root, this.#outside, 'none', [], {}, this.memory)
      this.loaded = loaded
      const knownRules = this.#findKnownRules(loaded)
      const { diagnostics } = await judgeWorkspace(loaded, { knownRules }, this.#outside)
      if (generation !== this.#generation) return false
      this.diagnostics = diagnostics.filter(
        ({ code, severity }) => code !== 'rule-undecided' || severity !== 'note',
      )
    } catch (error) {
      if (!(error instanceof EdgewiseError) || error.diagnostics.length === 0) throw error
      this.loaded = null
      this.diagnostics = [...error.diagnostics]
    }
    return generation === this.#generation
  }

  /**
   * Loads the state if it is not on this machine, as it was at most 30 seconds ago; a failure is
   * logged, and as good as none. Null for a state on this machine.
   */
  async loadShared(): Promise<KnownState | null> {
    const { loaded } = this
    if (loaded === null) return null
    const { id, service, state: place } = loaded.config
    const key = JSON.stringify([id, service.url, place])
    const now = this.#outside.clock.monotonic()
    const shared =
      this.#shared?.key === key && this.#shared.until >= now
        ? this.#shared
        : { key, until: now + sharedMs, state: this.#tryShared(loaded) }
    this.#shared = shared
    const state = await shared.state
    if (state !== null) await loadSalt(loaded, state.salt, this.#outside)
    return state
  }

  async #tryShared(loaded: LoadedWorkspace): Promise<KnownState | null> {
    try {
      return await this.#loadShared(loaded, this.#outside)
    } catch (error) {
      throwDefect(error)
      this.#log(error)
      return null
    }
  }

  /**
   * Loads the state for an answer about a place: of a folder, as it was at most two seconds ago, or
   * one that is not on this machine; null elsewhere, and if that takes longer than a second.
   */
  async loadRecorded(): ReturnType<typeof loadLocalState> {
    if (this.loaded === null) return null
    const now = this.#outside.clock.monotonic()
    if (this.#recorded === null || this.#recorded.until < now)
      this.#recorded = {
        until: now + keptMs,
        state: loadLocalState(this.loaded, this.#outside),
      }
    const own = await this.#recorded.state
    if (own !== null) return own
    const isOver = new AbortController()
    const late = this.#outside.clock.sleep(maxWaitMs, isOver.signal).then(() => null)
    const shared = await Promise.race([this.loadShared(), late]).finally(() => isOver.abort())
    return shared?.recorded ?? null
  }

  #findKnownRules({ config }: Configured): KnownRules {
    const rules = this.#rules
    const readings = JSON.stringify(config.trace)
    if (readings !== rules.readings || rules.known.parts.size > maxKnownRules)
      rules.known = createKnownRules(maxListStates)
    rules.readings = readings
    return rules.known
  }
}
