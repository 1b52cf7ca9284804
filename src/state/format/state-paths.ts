import { hash } from 'node:crypto'
import type { Domain } from '../../model/item.ts'
import { normalizeAddress } from '../../model/normalize-address.ts'
import type { StateKey } from '../store.ts'

/** Paths of a state's files, relative, with `/`. */
export interface StatePaths {
  /** Folder of all files except the address. */
  home: string
  /** File with the service's address, beside those of the id's other addresses. */
  address: string
  addresses: string
  /** File that says to which store the state was migrated, beside that of the address. */
  moved: string
  domains: string
  /** One file for each apply. */
  journal: string
  /** One file for each apply that has not ended. */
  open: string
  /** Intents and the state before them, by apply and wave. */
  waves: string
  /** File of the applies without journal entry and waves, and its folder. */
  pruned: string
  prunedFolder: string
  /** One file for each domain that had another name. */
  moves: string
  /** One file for each apply that sent writes after it had lost the lock. */
  doubts: string
  /** One file for each rollout that is open or has domains on hold. */
  rollouts: string
  /** Folder of the salt of fingerprints, shared by all workspaces at the address. */
  salts: string
  domain(name: Domain): string
  entry(apply: string): string
  marker(apply: string): string
  wave(apply: string, number: number): string
  doubt(apply: string): string
  rollout(id: string): string
  move(to: Domain): string
  salt(text: string): string
}

/** Builds the paths of a state: `<id>/<address>/…`. */
export function buildStatePaths(key: StateKey): StatePaths {
  return buildStatePathsIn(buildPlainName(key.id), key.address)
}

/** Builds the paths at which earlier programs have the state of this spelling of the address. */
export function buildOldStatePaths(key: StateKey): StatePaths {
  return buildStatePathsAt(buildPlainName(key.id), buildOldAddressName(key.address))
}

/** Builds the paths of the state in the folder of a workspace. */
export function buildStatePathsIn(id: string, address: string): StatePaths {
  return buildStatePathsAt(id, buildAddressName(address))
}

/** Builds the paths of the state in the folder of a workspace, by the name of its address. */
export function buildStatePathsAt(id: string, address: string): StatePaths {
  const home = `${id}/${address}`
  return {
    home,
    address: `${id}/addresses/${address}.json`,
    addresses: `${id}/addresses`,
    moved: `${id}/addresses/${address}.moved.json`,
    domains: `${home}/domains`,
    journal: `${home}/journal`,
    open: `${home}/open`,
    waves: `${home}/waves`,
    pruned: `${home}/pruned/applies.json`,
    prunedFolder: `${home}/pruned`,
    moves: `${home}/moved`,
    rollouts: `${home}/rollouts`,
    salts: buildSaltFolder(address),
    // Outside of `home`, which only a process with the lock may change.
    doubts: `${id}/doubts/${address}`,
    // Small folders are quick to list, commit and push.
    domain: (name) => `${home}/domains/${hashText(name).slice(0, 2)}/${buildDomainFileName(name)}`,
    entry: (apply) => `${home}/journal/${apply}.json`,
    marker: (apply) => `${home}/open/${apply}.json`,
    wave: (apply, number) => `${home}/waves/${apply}/${number}.json`,
    doubt: (apply) => `${id}/doubts/${address}/${apply}.json`,
    rollout: (name) => `${home}/rollouts/${name}.json`,
    move: (to) => `${home}/moved/${buildDomainFileName(to)}`,
    // Two processes that store a salt at the same time don't replace each other's.
    salt: (text) => `${buildSaltFolder(address)}/${text.slice(0, 8)}.json`,
  }
}

/** Tests whether a path in a home is state: a home in `lock` or `budget` has other files, too. */
export function isStatePath(path: string): boolean {
  const [, , folder = ''] = path.split('/')
  return ['domains', 'journal', 'open', 'waves', 'pruned', 'moved', 'rollouts'].includes(folder)
}

/** Builds the folder of the salt. `for-` sets it apart from the home of a workspace `salt`. */
function buildSaltFolder(address: string): string {
  return `salt/for-${address}`
}

/** Builds the path of the calls of a service's account, shared by all workspaces. */
export function buildBudgetPath(address: string, account: string): string {
  return buildBudgetPathAt(buildAddressName(address), account)
}

/** Builds that path by the name of the address. */
export function buildBudgetPathAt(name: string, account: string): string {
  return `budget/${name}/${buildPlainName(account)}.json`
}

/** Builds the path of the calls of a service's account in the folder of a user. */
export function buildUserBudgetPath(address: string, account: string): string {
  return `budget/${buildAddressName(address)}/${buildPlainName(account)}`
}

/** Builds the path of the account's lock. */
export function buildLockPath(address: string, account: string): string {
  return buildLockPathAt(buildAddressName(address), account)
}

/** Builds that path by the name of the address. */
export function buildLockPathAt(name: string, account: string): string {
  return `lock/${name}/${buildPlainName(account)}`
}

/**
 * Builds the name of an address in paths, which all of its spellings share. It is a hash: the
 * address may contain values of the environment.
 */
export function buildAddressName(address: string): string {
  return address === 'emulator' ? address : hash('sha256', normalizeAddress(address))
}

/** Builds the name that earlier programs used: each spelling has its own. */
export function buildOldAddressName(address: string): string {
  return buildPlainName(address)
}

/** Tests whether a name is that of an earlier program; `emulator` is the same in both. */
export function isOldAddressName(name: string): boolean {
  return name !== 'emulator' && !/^[0-9a-f]{64}$/.test(name)
}

/**
 * Builds the name of a domain's file. Long names are shortened: with the suffix of a temporary file
 * they would exceed the limit of file systems.
 */
function buildDomainFileName(domain: Domain): string {
  if (domain.length <= 200) return `${domain}.json`
  return `${domain.slice(0, 180)}~${hashText(domain)}.json`
}

/**
 * Builds a name that is valid for a folder, a file and a part of a ref. Other characters are
 * replaced, and a hash keeps the name unique. It has no dot, so no folder looks like a file.
 */
export function buildPlainName(name: string): string {
  const plain = name
    .replace(/^https?:\/\//, '')
    .replace(/[^A-Za-z0-9-]+/g, '_')
    .slice(0, 60)
  return plain === name ? name : `${plain}-${hashText(name)}`
}

function hashText(text: string): string {
  return hash('sha256', text).slice(0, 8)
}
