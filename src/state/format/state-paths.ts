import { hash } from 'node:crypto'
import type { Domain } from '../../model/item.ts'
import type { StateKey } from '../store.ts'

/** Where a record keeps what; relative paths with `/`. */
export interface StatePaths {
  /** The folder of all but the address. */
  home: string
  /** Says whose record it is, beside those of the id's other addresses. */
  address: string
  addresses: string
  domains: string
  /** One file an apply. */
  journal: string
  /** One file for each apply that has not ended. */
  open: string
  /** What was about to change, by apply and wave. */
  waves: string
  /** One file for each rollout that is open, or holds something. */
  rollouts: string
  domain(name: Domain): string
  entry(apply: string): string
  marker(apply: string): string
  wave(apply: string, number: number): string
  rollout(id: string): string
}

/** The paths of a record: `<id>/<address>/…`. */
export function buildStatePaths(key: StateKey): StatePaths {
  const [id, address] = [plainName(key.id), plainName(key.address)]
  const home = `${id}/${address}`
  return {
    home,
    address: `${id}/addresses/${address}.json`,
    addresses: `${id}/addresses`,
    domains: `${home}/domains`,
    journal: `${home}/journal`,
    open: `${home}/open`,
    waves: `${home}/waves`,
    rollouts: `${home}/rollouts`,
    // Folders of a few dozen files stay quick to list, to commit and to send.
    domain: (name) => `${home}/domains/${hashOf(name).slice(0, 2)}/${domainFileName(name)}`,
    entry: (apply) => `${home}/journal/${apply}.json`,
    marker: (apply) => `${home}/open/${apply}.json`,
    wave: (apply, number) => `${home}/waves/${apply}/${number}.json`,
    rollout: (name) => `${home}/rollouts/${name}.json`,
  }
}

/** Where the calls of an account of a service are kept, whatever the workspace's id. */
export function buildBudgetPath(address: string, account: string): string {
  return `budget/${plainName(address)}/${plainName(account)}.json`
}

/** Where its lock is kept. */
export function buildLockPath(address: string, account: string): string {
  return `lock/${plainName(address)}/${plainName(account)}`
}

/**
 * A domain's file. The longest names, with what a write adds to them, are more than file systems
 * take.
 */
function domainFileName(domain: Domain): string {
  return domain.length <= 200 ? `${domain}.json` : `${domain.slice(0, 180)}~${hashOf(domain)}.json`
}

/**
 * A name as a folder, a file or a part of a ref: what one of them may not like is replaced, and a
 * hash keeps different names apart. None has a dot, so that no folder looks like a file.
 */
function plainName(name: string): string {
  const plain = name
    .replace(/^https?:\/\//, '')
    .replace(/[^A-Za-z0-9-]+/g, '_')
    .slice(0, 60)
  return plain === name ? name : `${plain}-${hashOf(name)}`
}

function hashOf(text: string): string {
  return hash('sha256', text).slice(0, 8)
}
