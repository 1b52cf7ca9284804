import type { FreezeWindow } from './time/freeze.ts'
import type { HealthRule } from './health.ts'
import type { Domain, ItemKey } from './item.ts'
import type { ApprovalNeeds } from './people/approvers.ts'
import type { QueryArea } from './statistics.ts'

/** A text of the workspace file that is shown, recorded or sent somewhere. */
export interface PlacedText {
  pointer: string
  /** The text with its variables replaced. */
  text: string
  /** Variables that it was made of. */
  variables: string[]
  /** Minimum length of a value that is looked for in it. */
  minLength: number
  /** Whether it is the token or the value of a secret, which may have something in common. */
  isCredential: boolean
}

/** Items that may, and items that must, be sent in one write. */
export interface Grouping {
  groups: 'documented' | 'all' | ItemKey[][]
  together: ItemKey[][]
}

/** Limits of one apply; a plan only warns. */
export interface Guards {
  /** Maximum number of domains with changes. */
  maxDomains: Amount
  /** Maximum number of changes; an item counts once for each of its domains. */
  maxChanges: Amount
  /** Maximum share of the account's requests that the domains with writes have, percent. */
  maxTraffic: number
  /** Lists of globs of domains that must not change; in a list, `!glob` takes domains out. */
  protect: string[][]
  freeze: FreezeWindow[]
  /** Whether changes back to older values ask for consent. */
  order: 'ask' | 'off'
  /** Actions that need a reason. */
  reason: ('override' | 'freeze' | 'retry-held' | 'unlock')[]
}

/** A store for state; `src/core/model/stores.ts` says how each is configured. */
export type StoreName = 'git' | 'dir' | 'postgres'

/**
 * Location of the state. `store` is null if none is configured: git in a git repository, a folder
 * elsewhere.
 */
export interface StateConfig {
  store: StoreName | null
  branch: string
  remote: string
  path: string
  /** Whether a folder of the checkout may hold it in a CI job too; absent: no. */
  allowLocal?: boolean
  /** Database of the store postgres; absent if a variable of its address has no value. */
  database?: DatabaseConfig
  /** Variables of the store postgres that may hold its address or its password. */
  variables?: string[]
}

/** A PostgreSQL database. */
export interface DatabaseConfig {
  /** Address with user and password. */
  url: string
  schema: string
}

/** Event that a receiver may be notified of; the schema of the workspace file describes each. */
export type NotifyEvent =
  | 'applied'
  | 'refused'
  | 'in-doubt'
  | 'failed'
  | 'drift'
  | 'rollout'
  | 'approval'

/** The kinds of receivers, and what they are. `outlets/notify` formats for them. */
export const receivers = {
  webhook: 'JSON, signed if there is a secret',
  slack: 'an incoming webhook of Slack',
  teams: 'a webhook of a workflow of Microsoft Teams',
}
export type ReceiverKind = keyof typeof receivers

/** A receiver of notifications. */
export interface NotifyConfig {
  /** Identifies it among all receivers of the file, whatever its address and order are. */
  key: string
  kind: ReceiverKind
  /** Empty if a variable of it has no value. */
  url: string
  /** Key that signs the messages of a webhook; absent without signature, empty like `url`. */
  secret?: string
  on: NotifyEvent[]
  /** Variables that hold the address or the key. */
  variables: string[]
}

/** A difference at the service that does not count as drift. */
export interface IgnoreRule {
  /** Glob of domains. */
  domain: string
  item: ItemKey
  /** JSON pointer within the item; empty for all of it. */
  pointer: string
  reason: string
}

/** Settings of the controller. */
export interface ServeConfig {
  /** Address of the pages, without a slash at its end; null if links are not known. */
  url: string | null
  drift: {
    /** Cron expression; null if drift is not looked for. */
    schedule: string | null
    /** File or program with the observed configuration; null if there is none. */
    observed: string | null
    /** Whether items that differ at the service are written again. */
    repair: boolean
  }
  auth: AuthConfig
}

/** How people and jobs prove who they are, beside the token. */
export interface AuthConfig {
  /** Provider of OpenID Connect; null without one. Texts are empty if a variable has no value. */
  provider: {
    issuer: string
    clientId: string
    /** Null for a public client. */
    clientSecret: string | null
    groupsClaim: string
  } | null
  proxy: { from: string[]; user: string; groups: string | null } | null
  ci: { issuer: string; audience: string; claims: Record<string, string> }[]
  /** Variables that hold the secret of the client. */
  variables: string[]
}

/** Maximum number of calls in any window of so many seconds. */
export interface Burst {
  calls: number
  seconds: number
}

/** Health check of a wave, and the reaction to its result. */
export interface HealthConfig extends HealthRule {
  /** Area of the requests that are compared. */
  area: QueryArea
  onLittleData: 'wait' | 'pass' | 'stop'
  onFailure: 'stop' | 'rollback'
  /** Time for which `serve` judges waves again after the last one, seconds. */
  after: number
}

/** A domain that was renamed at the service, which keeps its configuration. */
export interface DomainMove {
  from: Domain
  to: Domain
}

/** Settings of a rollout. */
export interface RolloutConfig {
  /** Cumulative shares or numbers of the changed domains; the last one is everything. */
  waves: Amount[]
  /** Globs of the domains of the first wave. */
  first: string[]
  /** Seconds between waves. */
  pause: number
  /** Numbers of the waves that need approval, from 1. */
  approval: number[]
  /** Share of the account's requests above which a wave needs approval, percent; absent: none. */
  approvalAbove?: number
  /** Who has to approve. */
  approvers: ApprovalNeeds
  /** What the shares of waves count: domains, or their requests. */
  by: 'domains' | 'traffic'
  /** How a plan goes out that only goes back to values that were confirmed and healthy. */
  revert: 'waves' | 'fast'
  /** Null if health is not checked. */
  health: HealthConfig | null
}

/** A count, or a share in percent; of a limit with both, both hold. */
export type Amount = { count: number } | { percent: number }
