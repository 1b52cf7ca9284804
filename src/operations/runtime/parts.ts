import type { programs } from '../../manifest/secrets/secret-sources.ts'
import type { SecretVault } from '../../manifest/secrets/secret-vault.ts'
import type { Workspace } from '../../manifest/workspace-file/workspace.ts'
import type { SecretHider } from '../../core/model/secret.ts'
import type { SourceTree } from '../../core/model/source-tree.ts'
import type { EarlierFiles } from '../../state/git/earlier-files.ts'
import type { Relation } from '../../state/git/source-tree.ts'
import type { CacheFile } from '../../manifest/manifests/cache/manifest-cache.ts'
import type { Clock } from '../../core/model/time/clock.ts'
import type { AuthConfig, DatabaseConfig } from '../../core/model/config.ts'
import type { Actor, Identity } from '../../core/model/people/identity.ts'
import type { Solver, WorkerPool } from '../../core/model/parallel.ts'
import type { Phase } from '../../core/model/events.ts'
import type { Note } from '../../core/model/text/words.ts'
import type { Transport } from '../../service/transport.ts'
import type { Disk } from '../../state/folder/disk.ts'
import type { GitRepository } from '../../state/git/git-repository.ts'
import type { Machine } from '../../state/locks/machine.ts'
import type { ConnectionPool } from '../../state/postgres/database.ts'

/** The content of `edgewise.yaml`. */
export type Configured = Pick<Workspace, 'config'>

/** The content of `edgewise.yaml`, with what its variables lack, and the folder. */
export interface Settings
  extends
    Configured,
    Pick<Workspace, 'root' | 'explainMissing' | 'explainTokenFault'>,
    SecretHider {
  /** Builds the environment of a program. */
  buildProgramEnvironment(kind: keyof typeof programs): Record<string, string | undefined>
}

/** The desired items of all domains; their secrets are references. */
export type Desired = Pick<Workspace, 'desired'>

/** The secrets of a workspace, which `resolveSecrets` uses. */
export interface Secrets {
  vault: SecretVault
}

/** What is compared with the recorded state. */
export type Comparable = Settings & Desired & Secrets

/** The places of items in the manifests. */
export type ItemPlaces = Pick<
  Workspace,
  'findItemPlace' | 'findProfiles' | 'findTextPlace' | 'findSourceLine'
>

/** Where the texts of items stand, without their lines. */
export type TextSources = Pick<Workspace, 'findTextSource'>

/** The files of policies, the exceptions in manifests, and the places of what they judge. */
export type Policed = Comparable &
  Findings &
  Pick<
    Workspace,
    'policyFiles' | 'exceptions' | 'findDomainPlace' | 'findItemPlace' | 'findTextPlace'
  > & {
    loadEarlier(paths: readonly string[]): Promise<EarlierFiles>
    /** Describes what the commit loosens and is still restrained by; absent: nothing. */
    loosened?: string[]
    /** Whether a commit that was applied before had roles; absent: that is not known. */
    hadRoles?: boolean
    /** Text of policies that count although no file has them any more; absent for none. */
    lostPolicies?: string
  }

/** The problems of a workspace, and its files. */
export type Findings = Pick<
  Workspace,
  | 'diagnostics'
  | 'levels'
  | 'judgeAll'
  | 'files'
  | 'findSource'
  | 'findNoManifest'
  | 'findUnmatchedGlobs'
  | 'findWeakSecrets'
>

/** The commit that is checked out. */
export interface Checkout {
  /** Finds the tree of the manifests. */
  findTree(): Promise<SourceTree>
  /** Finds how commits are related to the checked-out one. */
  relateCommits(commits: string[]): Promise<Map<string, Relation>>
  /** Finds the one commit that changed the workspace after another one; null if it is not one. */
  findOnlyChange(after: string | null, last: string): Promise<string | null>
  /** Finds the name that the workspace has in every clone, as `Applied.workspace`. */
  findName(): Promise<string>
}

/** What a plan is made from: manifests, policies and secrets, their places, and the commit. */
export type Plannable = Policed & Checkout & ItemPlaces & TextSources

/** Ports of work that only computes: its progress, its threads. */
export interface Computing {
  /** Called when a long phase begins, and regularly while it runs; absent: never. */
  onPhase?(phase: Phase): void
  /**
   * Runs work that blocks this thread, so that an interrupt can end it with a CancelledError;
   * absent: it always ends by itself.
   */
  runBlocking?<T>(work: () => T): T
  /** Threads that load and plan large fleets; absent: this thread does it alone. */
  pool?: WorkerPool
  /**
   * LP solver for the lower bound on writes; absent: loaded on demand; null: a bound by counting.
   */
  solver?: Solver | null
}

/** Ports of work that reaches other processes: its time, its end, and its environment. */
export interface Reaching {
  clock: Clock
  env: Record<string, string | undefined>
  /** Aborted on an interrupt: nothing more is sent, and writes in flight are recorded. */
  signal: AbortSignal
}

/** Ports of calls to the service. */
export interface Calling extends Reaching, Computing {
  /** Transport to the service; absent: this machine's network. */
  transport?: Transport
}

/** Ports of the state: where it is stored, and who uses it. */
export interface StateOutside extends Reaching, Computing {
  machine: Machine
  /** Creates a globally unique id. */
  newId(): string
  disk: Disk
  /** Opens the repository of a folder; absent: with the git program of this machine. */
  openGit?(folder: string, remote: string): Promise<GitRepository | null>
  /** Creates the connections to a database; absent: over this machine's network. */
  createPool?(config: DatabaseConfig): ConnectionPool
  /** Time during which a lost database is tried again, ms; absent: 30 s. */
  databasePatienceMs?: number
  /** Identifies who has a token of OpenID Connect; absent: nobody is known by one. */
  identifyToken?(auth: AuthConfig, token: string): Promise<Identity | { fault: string }>
  /** Who acts, for the history; absent: who the environment shows. */
  actor?: Actor
  /** Prints notes while an operation runs; absent: nowhere. */
  note?: Note
}

/** Ports to the outside world. Passed in, so that tests and other hosts can replace them. */
export interface Outside extends Calling, StateOutside {
  /** In [0, 1). */
  random(): number
  /** User for locks and the history: `name@machine`. */
  user: string
  /** Called after consent, before an apply, a rollback or a repair may send its first write. */
  onSending?(): Promise<void>
  /** Cache of assembled manifests; absent: they are assembled in each run. */
  cache?: UserCache
}

/**
 * Part of the cache: assembled manifests, or what an interrupted import has read from the service.
 */
export type CachePart = 'manifests' | 'reads'

/** Cache of the user, with a file for each part of each workspace. */
export interface UserCache {
  /** Opens the file of a workspace; null where no folder can be trusted. */
  open(root: string, part: CachePart): CacheFile | null
  /** Identifies the program that assembles the manifests; absent: by its built file. */
  program?: string
}
