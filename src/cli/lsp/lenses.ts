import type { Settings, Desired } from '../../operations/runtime/workspace-parts.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  CodeLensRefreshRequest,
  LSPErrorCodes,
  ResponseError,
  type CodeLens,
  type Connection,
  type Range,
} from 'vscode-languageserver/node'
import { throwDefect } from '../../core/model/edgewise-error.ts'
import type { Domain } from '../../core/model/item.ts'
import { isObject } from '../../core/model/json.ts'
import { pluralize } from '../../core/model/text/words.ts'
import { parseYaml } from '../../manifest/yaml/yaml-file.ts'
import { findPlace } from '../../manifest/yaml/yaml-place.ts'
import { hasErrors } from '../../operations/refuse-invalid.ts'
import { loadKnownState } from '../../operations/runtime/local-state.ts'
import type { LoadedWorkspace } from '../../operations/runtime/load-workspace.ts'
import type { Outside } from '../../operations/runtime/outside.ts'
import { makePlan } from '../../operations/submission/make-plan.ts'
import type { CheckedWorkspace } from './checked-workspace.ts'
import { toRange } from './positions.ts'
import type { LanguageSession, OpenFile } from './session.ts'

/** Pause after an edit before its manifest is planned, ms. */
const pauseMs = 300
/** Maximum number of domains of a file that is planned: planning blocks the thread. */
const maxDomains = 200

/** Counts, above each manifest, of the changes and writes that an apply would send. */
export class Lenses {
  readonly #connection: Connection
  readonly #session: LanguageSession
  readonly #outside: Outside
  /** The latest request of each file. */
  readonly #asked = new Map<string, symbol>()
  #timer: NodeJS.Timeout | undefined
  #queue: Promise<unknown> = Promise.resolve()

  constructor(connection: Connection, session: LanguageSession, outside: Outside) {
    this.#connection = connection
    this.#session = session
    this.#outside = { ...outside, solver: null }
  }

  /**
   * Plans the manifests of a file when nothing has been asked about it for a moment; nothing in a
   * workspace that has errors.
   *
   * @throws ResponseError if the file is asked about again meanwhile
   */
  async list(uri: string): Promise<CodeLens[] | null> {
    const own = Symbol(uri)
    this.#asked.set(uri, own)
    await sleep(pauseMs)
    // One plan at a time: many files may be open.
    const result = this.#queue.then(() => (this.#asked.get(uri) === own ? this.#plan(uri) : null))
    this.#queue = result.catch(() => undefined)
    const found = await result
    if (found !== null) return found
    throw new ResponseError(LSPErrorCodes.ContentModified, 'the file is asked about again')
  }

  /** Lets the editor ask again after a check: another file may have changed the plan. */
  refresh(): void {
    if (!this.#session.canRefresh || this.#asked.size === 0) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#connection
        .sendRequest(CodeLensRefreshRequest.type)
        .catch((error: unknown) => this.#session.log(error))
    }, pauseMs)
  }

  end(): void {
    clearTimeout(this.#timer)
  }

  async #plan(uri: string): Promise<CodeLens[]> {
    const document = this.#session.documents.get(uri)
    const file = document === undefined ? null : this.#session.findFile(uri)
    if (document === undefined || file === null) return []
    await this.#session.settle(file.workspace)
    const { loaded, diagnostics } = file.workspace
    if (loaded === null || hasErrors({ diagnostics })) return []
    const manifests = listManifests(file, document.getText(), loaded)
    if (manifests.flatMap(({ domains }) => domains).length > maxDomains) return []
    try {
      return await planManifests(file.workspace, loaded, manifests, this.#outside)
    } catch (error) {
      // A state that can't be loaded is a matter of plan, which explains it.
      throwDefect(error)
      return []
    }
  }
}

/** A document of a file with the domains that it configures. */
interface Manifest {
  domains: Domain[]
  range: Range
}

function listManifests(
  { path }: OpenFile,
  text: string,
  { desired }: Settings & Desired,
): Manifest[] {
  return parseYaml({ path, text }).documents.flatMap((document) => {
    const value = isObject(document.value) ? document.value : {}
    const key = 'domain' in value ? 'domain' : 'domains'
    const domains = [value[key]].flat().map((name) => String(name).toLowerCase())
    const known = domains.filter((domain) => desired.has(domain))
    const range = toRange(findPlace(document, `/${key}`))
    return known.length === 0 ? [] : [{ domains: known, range }]
  })
}

async function planManifests(
  checked: CheckedWorkspace,
  workspace: LoadedWorkspace,
  manifests: Manifest[],
  outside: Outside,
): Promise<CodeLens[]> {
  if (manifests.length === 0) return []
  const shared = await checked.loadShared()
  const known = shared === null ? await loadKnownState(workspace, outside) : null
  const recorded = shared?.recorded ?? known?.recorded
  if (recorded === undefined) return []
  const rollouts = (await (shared ?? known?.store)?.listRollouts()) ?? []
  // The commit is of no interest, and finding it starts git.
  const own = { ...workspace, findTree: async () => ({ commit: null }) }
  const lenses: CodeLens[] = []
  for (const { domains, range } of manifests) {
    const options = { effort: 'quick', rollouts } as const
    const plan = await makePlan(own, recorded, { target: domains, items: [] }, options, outside)
    const { conditional } = plan.summary
    const { changes, writes } = plan.definite ?? plan
    const parts = [
      changes.length === 0 ? 'no changes' : pluralize(changes.length, 'change'),
      ...(writes.length === 0 ? [] : [pluralize(writes.length, 'write')]),
      ...(conditional === 0 ? [] : [`${pluralize(conditional, 'secret')} compared at the apply`]),
    ]
    lenses.push({ range, command: { title: parts.join(' · '), command: '' } })
  }
  return lenses
}
