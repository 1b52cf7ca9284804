import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { isObject } from '../model/json.ts'
import { formatDomainFile, parseDomainFile, parseJson } from './domain-file.ts'
import type { Recorded, RecordKey, Store } from './record.ts'
import { removeFileDurably, writeFileDurably } from './write-file.ts'

/**
 * A record in a folder: `<folder>/<id>/<address>/domains/<domain>.json`, and the account's calls in
 * `<folder>/budget/<address>/<account>.json`.
 */
export function openDirStore(folder: string, key: RecordKey, account: string): Store {
  const home = join(folder, key.id, folderOf(key.address))
  const domains = join(home, 'domains')
  const addressFile = join(home, 'address.json')
  const budget = join(folder, 'budget', folderOf(key.address), `${folderOf(account)}.json`)
  return {
    location: home,
    load: () => loadDomains(domains),
    save: (changed) => {
      if (!existsSync(addressFile)) writeFileDurably(addressFile, `${JSON.stringify({ id: key.id, address: key.address })}\n`)
      for (const [domain, items] of changed) {
        const path = join(domains, fileOf(domain))
        if (items.size > 0) writeFileDurably(path, formatDomainFile(domain, items))
        else if (existsSync(path)) removeFileDurably(path)
      }
    },
    otherAddresses: () =>
      entriesOf(join(folder, key.id))
        .filter((name) => name !== folderOf(key.address))
        .flatMap((name) => addressIn(join(folder, key.id, name, 'address.json'))),
    loadCalls: () => loadCalls(budget),
    saveCalls: (times) => writeFileDurably(budget, `${JSON.stringify({ format: 'edgewise.budget/1', calls: times })}\n`),
  }
}

/** Where the lock of an account of a service is kept: beside its budget, whatever the workspace's id. */
export function lockFolder(folder: string, address: string, account: string): string {
  return join(folder, 'lock', folderOf(address), folderOf(account))
}

function loadDomains(folder: string): Recorded {
  const recorded: Recorded = new Map()
  for (const name of entriesOf(folder).toSorted()) {
    if (!name.endsWith('.json')) continue
    const path = join(folder, name)
    const { domain, items } = parseDomainFile(path, readFileSync(path, 'utf8'))
    if (name !== fileOf(domain)) {
      throw new EdgewiseError('record-damaged', `the record ${path} says it is of ${domain}`, 'Give the file its own name back.')
    }
    recorded.set(domain, items)
  }
  return recorded
}

/** Calls whose times can't be read count as none: the service's own headers still hold. */
function loadCalls(path: string): number[] {
  if (!existsSync(path)) return []
  const data = parseJson(readFileSync(path, 'utf8'))
  const calls = data !== undefined && isObject(data) ? data['calls'] : undefined
  return Array.isArray(calls) ? calls.filter((time): time is number => typeof time === 'number') : []
}

function addressIn(path: string): string[] {
  if (!existsSync(path)) return []
  const data = parseJson(readFileSync(path, 'utf8'))
  return data !== undefined && isObject(data) && typeof data['address'] === 'string' ? [data['address']] : []
}

function entriesOf(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : []
}

/** A domain's file. The longest names, with what a write adds to them, are more than file systems take. */
function fileOf(domain: string): string {
  return domain.length <= 200 ? `${domain}.json` : `${domain.slice(0, 180)}~${shortHash(domain)}.json`
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8)
}

/** A name as a folder: what a file system may not like is replaced, and a hash keeps different names apart. */
function folderOf(name: string): string {
  const plain = name
    .replace(/^https?:\/\//, '')
    .replace(/[^A-Za-z0-9.-]+/g, '_')
    .slice(0, 60)
  return plain === name ? name : `${plain}-${shortHash(name)}`
}
