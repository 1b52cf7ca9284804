import type { Grouping, Guards, RolloutConfig, StateConfig } from '../model/config.ts'
import type { Domain, ItemKey, Snapshot } from '../model/item.ts'
import type { JsonObject } from '../model/json.ts'
import type { Diagnostic, Place } from '../model/problem.ts'

/** Where the value of a secret comes from; `command` is a program and its arguments. */
export type SecretSource = { env: string } | { file: string } | { command: string[] }

/** What `edgewise.yaml` says, with every default filled in. */
export interface WorkspaceConfig {
  version: 1
  id: string
  service: {
    /** `emulator`, or a base URL without `/v2` and without a slash at its end. */
    url: string
    account: string
    /** Empty where its environment variable is not set: `validate` and `plan` need none. */
    token: string
    timezone: string
    /** Item → its name on the wire, where the two differ. */
    itemKeys: Record<ItemKey, string>
    timeoutSeconds: number
    settleSeconds: number
    /** Whether the token may go over plain http to another machine. */
    allowHttp: boolean
  }
  limits: { callsPerMinute: number; domainsPerWrite: number; maxWaitSeconds: number }
  manifests: string[]
  profiles: string[]
  /** Item → value, under every manifest. */
  defaults: JsonObject
  secrets: Record<string, SecretSource>
  allowLiteralSecrets: boolean
  state: StateConfig
  grouping: Grouping
  guards: Guards
  rollout: RolloutConfig
}

/** A workspace as its files say it should be. */
export interface Workspace {
  root: string
  config: WorkspaceConfig
  /** Only the items without errors. */
  desired: Snapshot
  /** Every problem of every manifest and profile, sorted by place. */
  diagnostics: Diagnostic[]
  /**
   * Where a manifest declares an item, or the part of it at a pointer within the item's value; null
   * for what no manifest declares. A value of a profile stands where the manifest names the
   * profile.
   */
  findItemPlace(
    domain: Domain,
    item: ItemKey,
    pointer?: string,
  ): (Place & { document: number }) | null
  /** The source line of a place, secrets written out in it covered; null where there is none. */
  findSourceLine(place: Place): string | null
}
