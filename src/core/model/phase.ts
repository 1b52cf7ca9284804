/** Names of the long phases of an operation. */
export type PhaseName =
  | 'listing-files'
  | 'loading-files'
  | 'checking-manifests'
  | 'loading-import'
  | 'loading-observed'
  | 'reading-service'
  | 'preparing-manifests'
  | 'locking'
  | 'loading-state'
  | 'comparing'
  | 'planning'
  | 'testing'
  | 'mutating'
  | 'preparing-writes'
  | 'formatting-files'
  | 'writing-files'
  | 'saving-state'
  | 'pruning'

/** Phase of an operation at the moment. */
export interface Phase {
  name: PhaseName
  /** Finished parts; absent if they are not counted. */
  done?: number
  /** All parts: files, kB, manifests, domains, writes, applies or steps; absent if unknown. */
  total?: number
}
