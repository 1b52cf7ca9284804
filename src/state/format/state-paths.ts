import { hash } from 'node:crypto'
import type { Domain } from '../../core/model/item.ts'
import { normalizeAddress } from '../../core/model/text/url.ts'

/** Paths of a state's files, relative, with `/`. */
export type StatePaths = ReturnType<typeof buildStatePathsIn>

/** Builds the paths of a state: `<id>/<address>/…`. */
export function buildStatePaths(key: { id: string; address: string }): StatePaths {
  return buildStatePathsIn(buildPlainName(key.id), key.address)
}

/** Builds the paths of the state in the folder of a workspace. */
export function buildStatePathsIn(id: string, serviceAddress: string) {
  const address = buildAddressName(serviceAddress)
  const home = `${id}/${address}`
  return {
    /** Folder of all files except the address. */
    home,
    /** File with the service's address, beside those of the id's other addresses. */
    address: `${id}/addresses/${address}.json`,
    addresses: `${id}/addresses`,
    /** File that says to which store the state was migrated, beside that of the address. */
    moved: `${id}/addresses/${address}.moved.json`,
    domains: `${home}/domains`,
    /** One file for each apply. */
    journal: `${home}/journal`,
    /** One file for each apply that has not ended. */
    open: `${home}/open`,
    /** Intents and the state before them, by apply and batch. */
    batches: `${home}/batches`,
    /** File of the applies without journal entry and batches, and its folder. */
    pruned: `${home}/pruned/applies.json`,
    prunedFolder: `${home}/pruned`,
    /** One file for each domain that had another name. */
    moves: `${home}/moved`,
    /** One file for each rollout that is open or has domains on hold. */
    rollouts: `${home}/rollouts`,
    /** One file for each of the latest rollouts that have ended. */
    ended: `${home}/ended`,
    /** What restrained the last applies. */
    restraints: `${home}/restraints.json`,
    /** The newest entry of the chained history. */
    chainHead: `${home}/chain.json`,
    /** One file for each lock that was removed since: outside of `home`, as `doubts`. */
    unlocks: `${id}/unlocks/${address}`,
    /** Folder of the salt of fingerprints, shared by all workspaces at the address. */
    salts: buildSaltFolder(address),
    // One file for each apply that sent writes after it had lost the lock: outside of `home`, which
    // only a process with the lock may change.
    doubts: `${id}/doubts/${address}`,
    /** File of the traffic of domains, and its folder: outside of `home` too. */
    traffic: `${id}/traffic/${address}/figures.json`,
    trafficFolder: `${id}/traffic/${address}`,
    /** Folder of what the leader of a controller has found: outside too. */
    controller: `${id}/controller/${address}`,
    // Small folders are quick to list, commit and push.
    domain: (name: Domain) =>
      `${home}/domains/${hashText(name).slice(0, 2)}/${buildDomainFileName(name)}`,
    entry: (apply: string) => `${home}/journal/${apply}.json`,
    marker: (apply: string) => `${home}/open/${apply}.json`,
    batch: (apply: string, number: number) => `${home}/batches/${apply}/${number}.json`,
    doubt: (apply: string) => `${id}/doubts/${address}/${apply}.json`,
    rollout: (name: string) => `${home}/rollouts/${name}.json`,
    chainGroup: (number: number) => `${home}/${nameGroup(number)}`,
    chainEntry: (number: number) => `${home}/${nameEntry(number)}.json`,
    signature: (number: number) => `${home}/${nameEntry(number)}.sig`,
    unlock: (name: string) => `${id}/unlocks/${address}/${name.slice(0, 16)}.json`,
    move: (to: Domain) => `${home}/moved/${buildDomainFileName(to)}`,
    // Two processes that store a salt at the same time don't replace each other's.
    salt: (text: string) => `${buildSaltFolder(address)}/${text.slice(0, 8)}.json`,
  }
}

/** Number of history entries in a folder: small ones, as for domains. */
export const groupSize = 256

/** Matches the paths in the folders of the chained history, below the home of a workspace. */
export const chainPath = /^chain-\d+\//

/** Names the file of a history entry, without its ending. */
export function nameEntry(number: number): string {
  return `${nameGroup(number)}/${number}`
}

/** Names its folder. It is in the home itself: each folder more is one to sync. */
function nameGroup(number: number): string {
  return `chain-${Math.floor(number / groupSize)}`
}

/** Builds the folder of the salt. `for-` sets it apart from the home of a workspace `salt`. */
function buildSaltFolder(address: string): string {
  return `salt/for-${address}`
}

/** Builds the path of the calls of a service's account, shared by all workspaces. */
export function buildBudgetPath(address: string, account: string): string {
  return `${buildUserBudgetPath(address, account)}.json`
}

/** Builds the path of the calls of a service's account in the folder of a user. */
export function buildUserBudgetPath(address: string, account: string): string {
  return `budget/${buildAddressName(address)}/${buildPlainName(account)}`
}

/** Builds the path of the account's lock. */
export function buildLockPath(address: string, account: string): string {
  return `lock/${buildAddressName(address)}/${buildPlainName(account)}`
}

/** Builds the path of the account's stop, as that of a salt. */
export function buildStopPath(address: string, account: string): string {
  return `stop/for-${buildAddressName(address)}/${buildPlainName(account)}`
}

/**
 * Builds the name of an address in paths, which all of its spellings share. It is a hash: the
 * address may contain values of the environment.
 */
export function buildAddressName(address: string): string {
  return address === 'emulator' ? address : hash('sha256', normalizeAddress(address))
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
