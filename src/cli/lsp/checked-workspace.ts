import type { Configured, Outside } from '../../operations/runtime/parts.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Diagnostic } from '../../core/model/problem.ts'
import { FileMemory } from '../../manifest/manifests/cache/file-memory.ts'
import { loadWorkspace, type LoadedWorkspace } from '../../operations/runtime/load-workspace.ts'
import { loadLocalState } from '../../operations/runtime/local-state.ts'
import { createKnownRules, type KnownRules } from '../../operations/rule-findings.ts'
import { judgeWorkspace } from '../../operations/validate.ts'

/** Number of results about rule lists that are kept: each edit adds some. */
const maxKnownRules = 20_000
/** Work that one list may take: an edit of it waits for no more. */
const maxListStates = 3000
/** Work of one check on lists that it does not know; the next check does more. */
const turnStates = 10_000
/** Time for which answers about places use the same recorded state, ms. */
const keptMs = 2000

/** A workspace with the unsaved texts of an editor, as it was last loaded. */
export class CheckedWorkspace {
  readonly root: string
  readonly memory = new FileMemory()
  /** Null as long as the workspace file is not valid. */
  loaded: LoadedWorkspace | null = null
  diagnostics: Diagnostic[] = []
  readonly #outside: Outside
  readonly #rules = { readings: '', known: createKnownRules(maxListStates, turnStates) }
  #generation = 0
  #recorded: { until: number; state: ReturnType<typeof loadLocalState> } | null = null

  /** @param root folder of `edgewise.yaml` */
  constructor(root: string, outside: Outside) {
    this.root = root
    this.#outside = outside
  }

  /** Whether the last check compared all lists that it may compare. */
  get isWhole(): boolean {
    return this.#rules.known.isWhole
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
   * Loads the state for an answer about a place, as it was at most two seconds ago; null for one
   * that is not in a folder.
   */
  async loadRecorded(): ReturnType<typeof loadLocalState> {
    if (this.loaded === null) return null
    const now = this.#outside.clock.monotonic()
    if (this.#recorded === null || this.#recorded.until < now)
      this.#recorded = {
        until: now + keptMs,
        state: loadLocalState(this.loaded, this.#outside),
      }
    return this.#recorded.state
  }

  #findKnownRules({ config }: Configured): KnownRules {
    const rules = this.#rules
    const readings = JSON.stringify(config.trace)
    if (readings !== rules.readings || rules.known.parts.size > maxKnownRules)
      rules.known = createKnownRules(maxListStates, turnStates)
    rules.readings = readings
    return rules.known
  }
}
