import { catalogue } from '../catalog/catalogue.ts'
import { readItem } from '../catalog/read-item.ts'
import { sameJson } from '../model/canonical-json.ts'
import type { Form, FormName, Write } from '../model/change.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain, ItemKey, Snapshot } from '../model/item.ts'
import { isObject, own, type Json, type JsonObject } from '../model/json.ts'
import type { Plan } from '../model/plan.ts'
import { hashes } from './basis.ts'
import { disproof } from './disproof.ts'
import type { Selection } from './selection.ts'

/** A plan file, as far as it is believed: which domains it is about, what it rests on, and what it would send. */
export interface SavedPlan {
  selection: Selection
  /** Hashes by domain. */
  desired: Record<Domain, string>
  recorded: Record<Domain, string>
  changes: Json[]
  writes: Write[]
}

const again = 'Make a new one with "edgewise plan --out FILE".'
const forms = new Set<string>(['replace', 'append', 'add', 'remove', 'switch', 'unset'] satisfies FormName[])

/**
 * Reads a plan file. It is data, not authority: nothing in it is carried out before `refuseStale` has held it against
 * the workspace and the record.
 *
 * @throws EdgewiseError `stale-plan` when it is no plan that this version can read
 */
export function readSavedPlan(data: Json | undefined, itemOf: (wireName: string) => ItemKey): SavedPlan {
  if (data === undefined || !isObject(data)) throw wrong('it is not JSON')
  if (data['format'] !== 'edgewise.plan/1') throw wrong('expected the format edgewise.plan/1')
  const { changes, writes, basis } = data
  if (!Array.isArray(changes) || !Array.isArray(writes) || !isObject(basis)) throw wrong('"changes", "writes" or "basis" is missing')
  const desired = hashTable(basis['desired'])
  const read = writes.map((write) => readWrite(write, itemOf))
  if (read.includes(null)) throw wrong('an entry of "writes" is incomplete or not valid')
  return {
    // Its own domains only: what others merge or apply elsewhere is none of its business.
    selection: { target: Object.keys(desired), items: texts(basis['items']) },
    desired,
    recorded: hashTable(basis['recorded']),
    changes,
    writes: read.filter((write) => write !== null),
  }
}

/**
 * Holds a saved plan against the plan that the workspace gives now.
 *
 * @param changes the changes of the plan as it is now, in the form of a plan file
 * @param snapshots what is recorded and desired now of the saved plan's domains
 * @returns the plan to carry out: today's, with the saved writes
 * @throws EdgewiseError `stale-plan`, naming what moved since, or that the file's writes do not bring about its changes
 */
export function refuseStale(
  saved: SavedPlan,
  now: Plan,
  changes: Json[],
  { recorded, desired }: { recorded: Snapshot; desired: Snapshot },
): Plan {
  const manifests = moved(saved.desired, desired)
  const records = moved(saved.recorded, recorded)
  if (manifests.length + records.length > 0) {
    const what = [
      ...(manifests.length === 0 ? [] : [`the manifests of ${some(manifests)}`]),
      ...(records.length === 0 ? [] : [`the record of ${some(records)}`]),
    ]
    throw new EdgewiseError('stale-plan', `the plan is stale: ${what.join(' and ')} changed since it was made`, again)
  }
  if (!sameJson(saved.changes, changes)) {
    const { held } = now.summary
    const why = held === 0 ? '' : `: ${held === 1 ? '1 change is' : `${held} changes are`} held since a rollout was stopped or taken back`
    const hint = held === 0 ? again : `${again} --retry-held applies what is held as well.`
    throw new EdgewiseError('stale-plan', `the plan file lists other changes than the workspace asks for${why}`, hint)
  }
  const fault = disproof(now.changes, saved.writes, recorded)
  if (fault !== null) throw new EdgewiseError('stale-plan', `the writes in the plan file do not bring about its changes: ${fault}`, again)
  refuseOtherWaves(saved, now)
  return { ...now, writes: saved.writes, summary: { ...now.summary, writes: saved.writes.length } }
}

/** Waves are what protects a domain from a change that was not looked at elsewhere first; they are not the file's to choose. */
function refuseOtherWaves(saved: SavedPlan, now: Plan): void {
  const waveOf = new Map(now.writes.flatMap(({ wave, domains }) => domains.map((domain): [Domain, number] => [domain, wave])))
  const other = saved.writes.find(({ wave, domains }) => domains.some((domain) => waveOf.get(domain) !== wave))
  if (other === undefined) return
  const message = `the plan file puts write ${other.id} into wave ${other.wave}, where the workspace's rollout has other domains`
  throw new EdgewiseError('stale-plan', message, again)
}

function wrong(what: string): EdgewiseError {
  return new EdgewiseError('stale-plan', `the plan file can't be used: ${what}`, again)
}

function readWrite(write: Json, itemOf: (wireName: string) => ItemKey): Write | null {
  if (!isObject(write)) return null
  const { id, wave, domains, config, forms: names } = write
  if (typeof id !== 'number' || typeof wave !== 'number' || !isObject(config) || !isObject(names)) return null
  if (!Array.isArray(domains) || domains.length === 0 || domains.length > 10 || texts(domains).length !== domains.length) return null
  const items = Object.entries(config).map(([wireName, payload]) => readForm(itemOf(wireName), payload, names))
  if (items.length === 0 || items.includes(null)) return null
  return { id, wave, domains: texts(domains), items: Object.fromEntries(items.filter((entry) => entry !== null)) }
}

function readForm(item: ItemKey, payload: Json, names: JsonObject): [ItemKey, Form] | null {
  const name = own(names, item)
  const spec = catalogue.get(item)
  if (typeof name !== 'string' || !forms.has(name) || spec === undefined) return null
  const refused = readItem(spec, payload, 'manifest', '').problems.some((problem) => problem.scope !== 'manifest')
  return refused ? null : [item, { name: name as FormName, payload }]
}

function texts(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === 'string') : []
}

function hashTable(value: Json | undefined): Record<Domain, string> {
  if (value === undefined || !isObject(value)) return {}
  return Object.fromEntries(Object.entries(value).flatMap(([domain, hash]) => (typeof hash === 'string' ? [[domain, hash] as const] : [])))
}

function moved(before: Record<Domain, string>, snapshot: Snapshot): Domain[] {
  const domains = Object.keys(before)
  const now = hashes(snapshot, domains)
  return domains.filter((domain) => before[domain] !== now[domain]).toSorted()
}

function some(domains: Domain[]): string {
  const rest = domains.length - 3
  return rest > 0 ? `${domains.slice(0, 3).join(', ')} and ${rest} more` : domains.join(', ')
}
