import type {
  Burst,
  DomainMove,
  DriftConfig,
  Grouping,
  Guards,
  Notes,
  NotifyConfig,
  PlacedText,
  RolloutConfig,
  ServeConfig,
  StateConfig,
} from '../model/config.ts'
import type { Domain, ItemKey, Snapshot } from '../model/item.ts'
import type { JsonObject } from '../model/json.ts'
import type { Diagnostic, Place } from '../model/problem.ts'
import type { WorkspaceFile } from './list-files.ts'
import type { LateValue } from './missing-value.ts'

/** Source of the value of a secret; `command` is a program and its arguments. */
export type SecretSource = { env: string } | { file: string } | { command: string[] }

/** The content of `edgewise.yaml`, with every default filled in. */
export interface WorkspaceConfig {
  version: 1
  id: string
  service: {
    /** `emulator`, or a base URL without `/v2` and without a trailing slash. */
    url: string
    /** The address as written in the file, for messages: the values of variables are not shown. */
    writtenUrl: string
    account: string
    /** Empty if its environment variable is not set: `validate` and `plan` need no token. */
    token: string
    timezone: string
    /** Item → wire name, where they differ. */
    itemKeys: Record<ItemKey, string>
    timeoutSeconds: number
    settleSeconds: number
    /** Whether the token may be sent over plain http to another machine. */
    allowHttp: boolean
    /** Whether the account offers the query of the configuration. */
    readBack: boolean
    /** Whether the account offers DELETE, which unsets items that have no documented reset. */
    unset: boolean
  }
  limits: {
    callsPerMinute: number
    domainsPerWrite: number
    maxWaitSeconds: number
    /** Queries of the configuration. */
    readsPerMinute: number
    /** Null for none. */
    burst: Burst | null
  }
  manifests: string[]
  profiles: string[]
  /** Item → value; inherited by every manifest. */
  defaults: JsonObject
  secrets: Record<string, SecretSource>
  allowLiteralSecrets: boolean
  state: StateConfig
  grouping: Grouping
  guards: Guards
  rollout: RolloutConfig
  drift: DriftConfig
  /** Notes of a plan that are printed or not. */
  notes: Notes
  notify: NotifyConfig[]
  /** Domains that were renamed; names in lower case. */
  moved: DomainMove[]
  serve: ServeConfig
  /** Texts in which no value of a secret may be. */
  texts: PlacedText[]
}

/** A workspace as declared by its files. */
export interface Workspace {
  root: string
  config: WorkspaceConfig
  /** Desired items, without those that have errors. */
  desired: Snapshot
  /** All problems of all manifests and profiles, sorted by place. */
  diagnostics: Diagnostic[]
  /** The workspace file, manifests and profiles. */
  files: WorkspaceFile[]
  /** The error of this workspace if it has no manifest. */
  noManifest: Diagnostic
  /**
   * Finds where a manifest declares an item, or the part of it at a pointer within its value; null
   * if no manifest declares it. A value from a profile has the place of the manifest's profile
   * entry.
   */
  findItemPlace(
    domain: Domain,
    item: ItemKey,
    pointer?: string,
  ): (Place & { document: number }) | null
  /** Returns the source line of a place with secret literals masked; null if there is none. */
  findSourceLine(place: Place): string | null
  /** Explains in a clause why there is no token, or no address of the database. */
  explainMissing(pointer: LateValue): string
  /** Explains why the token can't be one, without showing it; null if it can. */
  explainTokenFault(): string | null
  /** Creates a warning for each glob of guards and rollout that matches no domain. */
  findUnmatchedGlobs(): Diagnostic[]
  /** Creates a warning for each available secret that is easy to guess. */
  findWeakSecrets(): Diagnostic[]
}
