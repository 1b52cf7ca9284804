import type { Amount } from './amount.ts'
import type { FreezeWindow } from './freeze.ts'
import type { HealthRule } from './health.ts'
import type { ItemKey } from './item.ts'

/** What the workspace says about which items may, and which must, travel in one write. */
export interface Grouping {
  groups: 'documented' | 'all' | ItemKey[][]
  together: ItemKey[][]
}

/** What no plan may do. */
export interface Guards {
  maxDomains: Amount
  maxChanges: Amount
  /** Globs of domains that are not changed. */
  protect: string[]
  freeze: FreezeWindow[]
}

/**
 * Where state is kept. `store` is null where none is named: git in a git repository, a folder
 * elsewhere.
 */
export interface StateConfig {
  store: 'git' | 'dir' | null
  branch: string
  remote: string
  path: string
}

/** When a wave counts as healthy, and what follows where it does not. */
export interface HealthConfig extends HealthRule {
  onLittleData: 'wait' | 'pass' | 'stop'
  onFailure: 'stop' | 'rollback'
}

/** How changes are rolled out. */
export interface RolloutConfig {
  /** Cumulative shares or numbers of the changed domains; the last one is everything. */
  waves: Amount[]
  /** Globs of domains that go first. */
  first: string[]
  /** Seconds between waves. */
  pause: number
  /** Null where health is not checked. */
  health: HealthConfig | null
}
