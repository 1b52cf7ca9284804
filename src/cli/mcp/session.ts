import type { Configured, Plannable, Outside } from '../../operations/runtime/parts.ts'
import { createHash } from 'node:crypto'
import { EdgewiseError, throwDefect } from '../../core/model/edgewise-error.ts'
import { refuseInvalid, judgeForPlan } from '../../operations/runtime/refuse-invalid.ts'
import { loadWorkspace, type LoadedWorkspace } from '../../operations/runtime/load-workspace.ts'
import type { SourceFile } from '../../manifest/yaml/yaml-file.ts'
import { restrictToReading } from './read-only.ts'

/** A workspace as it is at one call, and ports that only read. */
export interface Opened {
  workspace: LoadedWorkspace
  outside: Outside
}

/** What one call of a tool may use. */
export interface Call {
  /**
   * Loads the workspace anew: manifests change between calls.
   *
   * @param changed files with another text than on the disk
   * @throws EdgewiseError `not-a-workspace`, `invalid`
   */
  load(changed?: SourceFile[]): Opened
  /**
   * Loads the workspace for what uses state or calls the service.
   *
   * @throws EdgewiseError as `load`, and `usage` if settings have changed since the start
   */
  connect(changed?: SourceFile[]): Opened
}

/** The workspace of a server, which stays the same until it ends. */
export class Session {
  readonly #root: string
  readonly #outside: Outside
  /** Hash of the settings at the start; null if they were invalid. */
  readonly #settings: string | null
  #redact: (text: string) => string = (text) => text

  /** @param root folder of `edgewise.yaml` */
  constructor(root: string, outside: Outside) {
    this.#root = root
    this.#outside = outside
    this.#settings = this.#hashAtStart()
  }

  /** Begins a call. */
  begin(signal: AbortSignal): Call {
    const both = AbortSignal.any([this.#outside.signal, signal])
    const load = (changed: SourceFile[] = []) => {
      const { cache: _cache, onPhase: _onPhase, note: _note, ...outside } = this.#outside
      const workspace = loadWorkspace(this.#root, outside, 'available', changed)
      this.#redact = workspace.redact
      return { workspace, outside: restrictToReading(outside, workspace, both) }
    }
    return {
      load,
      connect: (changed) => {
        const opened = load(changed)
        this.#refuseOtherSettings(opened.workspace)
        return opened
      },
    }
  }

  /** Removes the secrets of the last loaded workspace from a text. */
  redact(text: string): string {
    return this.#redact(text)
  }

  #hashAtStart(): string | null {
    try {
      return hashSettings(this.begin(this.#outside.signal).load().workspace)
    } catch (error) {
      throwDefect(error)
      return null
    }
  }

  /**
   * Refuses settings that lead the token, passwords or the state elsewhere than at the start: an
   * assistant may be able to edit the file.
   */
  #refuseOtherSettings(workspace: LoadedWorkspace): void {
    if (this.#settings === hashSettings(workspace)) return
    throw new EdgewiseError(
      'usage',
      this.#settings === null
        ? 'edgewise.yaml was invalid when this server started'
        : '"service", "state" or "secrets" of edgewise.yaml differ from when this server started',
      'They decide where the token goes: a person looks at the file, and starts the server again.',
    )
  }
}

function hashSettings({ config: { id, service, state, secrets } }: Configured): string {
  const text = JSON.stringify([id, service, state, secrets])
  return createHash('sha256').update(text).digest('hex')
}

/**
 * Refuses a workspace with errors that a plan would refuse.
 *
 * @throws EdgewiseError `invalid` with all of them
 */
export async function refuseUnplannable(workspace: Plannable): Promise<void> {
  refuseInvalid({ ...workspace, ...(await judgeForPlan(workspace)) })
}
