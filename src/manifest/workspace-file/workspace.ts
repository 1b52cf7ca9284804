import type { WorkspaceFile } from './generated/workspace-types.ts'
import type { Levels } from '../../core/checks/levels.ts'
import type { Judged } from '../../core/checks/suppressions.ts'
import type {
  Burst,
  Guards,
  NotifyConfig,
  PlacedText,
  RolloutConfig,
  ServeConfig,
  StateConfig,
} from '../../core/model/config.ts'
import type { Domain, ItemKey, Snapshot } from '../../core/model/item.ts'
import type { JsonObject } from '../../core/model/json.ts'
import type { Diagnostic, Place } from '../../core/model/problem.ts'
import type { WorkspaceFile as LoadedFile } from '../manifests/list-files.ts'
import type { DeclaredException } from '../policies/parse-exceptions.ts'
import type { Given, GivenSource, Source } from '../tests/given.ts'
import type { LateValue } from './workspace-env.ts'

/** Source of the value of a secret; `command` is a program and its arguments. */
export type SecretSource = { env: string } | { file: string } | { command: string[] }

/** The content of `edgewise.yaml`, with every default filled in; its schema describes the keys. */
export interface WorkspaceConfig extends Omit<
  WorkspaceFile,
  'limits' | 'defaults' | 'secrets' | 'state' | 'guards' | 'rollout' | 'notify' | 'serve'
> {
  service: WorkspaceFile['service'] & {
    /** The address as written in the file, for messages: the values of variables are not shown. */
    writtenUrl: string
  }
  limits: Omit<WorkspaceFile['limits'], 'burst'> & { burst: Burst | null }
  /** Item → value; inherited by every manifest. */
  defaults: JsonObject
  secrets: Record<string, SecretSource>
  state: StateConfig
  guards: Guards
  rollout: RolloutConfig
  notify: NotifyConfig[]
  serve: ServeConfig
  /** The keys that restrain changes, as they are written. */
  written: JsonObject
  /** Texts in which no value of a secret may be. */
  texts: PlacedText[]
}

/** A workspace as declared by its files. */
export interface Workspace {
  root: string
  config: WorkspaceConfig
  /** Desired items, without those that have errors. */
  desired: Snapshot
  /** Problems of all manifests and profiles, with their levels, sorted by place. */
  diagnostics: Diagnostic[]
  /** Severities by code: those of options before those of the file. */
  levels: Levels
  /**
   * Judges `diagnostics` together with others. If these are all others, a comment that allows
   * nothing is a finding.
   *
   * @param levels others than those of the workspace
   */
  judgeAll(this: void, others: Diagnostic[], isComplete: boolean, levels?: Levels): Judged
  /** The workspace file, manifests and profiles. */
  files: LoadedFile[]
  /** Finds the error of this workspace if it has no manifest: always the same one. */
  findNoManifest: () => Diagnostic
  /** Paths of the files with policies. */
  policyFiles: string[]
  /** The exceptions from policies in manifests. */
  exceptions: DeclaredException[]
  /** Finds where a manifest declares a domain; null if none does. */
  findDomainPlace(domain: Domain): (Place & { document: number }) | null
  /** Lists the owners that the manifest of a domain names. */
  findDeclaredOwners(this: void, domain: Domain): string[]
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
  /**
   * Finds where the text of an item's part stands: in the manifest, or in a profile or the
   * workspace file, and then the manifest that uses it; null if no manifest declares it. A part
   * without a text has the place and the pointer of the one around it.
   */
  findTextPlace(
    domain: Domain,
    item: ItemKey,
    pointer: string,
  ): (Place & { document: number; pointer: string; manifest: string | null }) | null
  /**
   * Finds the document and the pointer within it of the text of an item's part, as `findTextPlace`
   * does, but without its line.
   */
  findTextSource(domain: Domain, item: ItemKey, pointer: string): Source | null
  /** Lists the profiles of a domain, those that others include too. */
  findProfiles(this: void, domain: Domain): string[]
  /** Finds the text of a manifest or profile as it was loaded; null if there is none. */
  findSource(this: void, path: string): string | null
  /** Parses a configuration that is no manifest's over profiles, as a manifest's is. */
  parseGiven(given: GivenSource, domain: Domain): Given
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
