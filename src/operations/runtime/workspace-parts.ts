import type { programs } from '../../manifest/secrets/secret-sources.ts'
import type { SecretVault } from '../../manifest/secrets/secret-vault.ts'
import type { Workspace } from '../../manifest/workspace-file/workspace.ts'
import type { SecretHider } from '../../core/model/secret.ts'
import type { SourceTree } from '../../core/model/source-tree.ts'
import type { EarlierFiles } from '../../state/git/earlier-files.ts'
import type { Relation } from '../../state/git/source-tree.ts'

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

/** The places of items in the manifests. */
export type ItemPlaces = Pick<
  Workspace,
  'findItemPlace' | 'findProfiles' | 'findTextPlace' | 'findSourceLine'
>

/** Where the texts of items stand, without their lines. */
export type TextSources = Pick<Workspace, 'findTextSource'>

/** The files of policies, the exceptions in manifests, and the places of what they judge. */
export type Policed = Settings &
  Desired &
  Secrets &
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
