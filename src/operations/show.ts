import { markAsked, quoteAsked } from '../core/model/text/text-makers.ts'
import type { ItemPlaces, StateOutside } from './runtime/parts.ts'
import type { Workspace } from '../manifest/workspace-file/workspace.ts'
import { didYouMean } from '../core/catalog/value/nearest.ts'
import { lowerAscii } from '../core/model/text/lower-ascii.ts'
import { EdgewiseError } from '../core/model/edgewise-error.ts'
import type { Domain, ItemKey, ItemState } from '../core/model/item.ts'
import { mergeObserved } from '../manifest/observed/observed.ts'
import { formatPointerStep, isObject } from '../core/model/json.ts'
import { countProblems } from '../core/model/problem.ts'
import { formatTime, pluralize } from '../core/model/text/words.ts'
import { buildSheet, type DomainSheet, type FieldSource } from '../outlets/report/domain/sheet.ts'
import type { Store, RecordedItem } from '../state/store/store.ts'
import { observe, type Observation, type Observing } from './drift.ts'
import { findDrift } from './observation/find-drift.ts'
import type { LoadedWorkspace } from './runtime/load-workspace.ts'
import { loadState } from './runtime/open-state.ts'
import { indexRefusals } from './history/past-applies.ts'
import { listHistory, reconstructState, type PastState } from './state.ts'
import { describeOwners } from './submission/refuse-owned-elsewhere.ts'
import { createOwnerLookup } from './people/owners.ts'
import { describeStart } from './trace.ts'

/** Longest name of a domain. */
const maxName = 253

/** How a domain is shown. */
export interface ShowRequest extends Observing {
  /** Shows what was recorded at the end of this apply or rollout; absent: all that is known now. */
  at?: string
}

/** What is known of a domain, and notes about it. */
export interface Shown {
  sheet: DomainSheet
  /** What a request for its first page meets. */
  told: string
  notes: string[]
}

/**
 * Collects what is known of a domain: its merged configuration, the source of each field, its
 * state, the last change of each item, and what differs. Only what is recorded, if the manifests
 * have errors, or as of an apply. Records nothing.
 *
 * @throws EdgewiseError `usage` for a domain of which nothing is known, and an unknown apply; as
 *   `drift` for an observation
 */
export async function show(
  workspace: LoadedWorkspace,
  name: string,
  { at, ...request }: ShowRequest,
  outside: StateOutside,
): Promise<Shown> {
  const { store, recorded } = await loadState(workspace, outside, true)
  const domain = lowerAscii(name)
  const past = at === undefined ? null : await reconstructState(store, recorded, domain, at)
  const errors = noteErrors(workspace, 'only what is recorded is shown')
  const recordedOnly = describeRecordedOnly(past, errors)
  const desired = recordedOnly === null ? workspace.desired.get(domain) : undefined
  const known = past === null ? recorded.get(domain) : past.items
  const owners = await store.findOwners([domain])
  if (desired === undefined && (known === undefined || known.size === 0))
    throw createUnknownError(domain, recordedOnly, owners.get(domain), [
      ...workspace.desired.keys(),
      ...recorded.keys(),
    ])
  const own = { ...workspace, desired: new Map(desired === undefined ? [] : [[domain, desired]]) }
  const state = new Map(known === undefined ? [] : [[domain, known]])
  const selection = { target: [domain], items: [] }
  const observed = await observe(request, { workspace: own, recorded: state, selection }, outside)
  const found = findDrift(
    own,
    state,
    pickDomain(observed, domain, workspace),
    recordedOnly === null ? await store.listRollouts() : [],
  )
  const sheet = buildSheet({
    ...describeDomain(workspace, domain, createOwnerLookup(workspace)),
    desired: desired ?? new Map<ItemKey, ItemState>(),
    recorded: known ?? new Map<ItemKey, RecordedItem>(),
    recordedOnly,
    drift: found.drift,
    ...(await createApplyLookup(store)),
  })
  const notes = [
    ...(past === null ? [...errors, ...found.notes, ...describeOwners(owners)] : []),
    ...(past === null || past.notKnown.length === 0
      ? []
      : [
          'Not known at that time, because it was imported or observed later: ' +
            `${past.notKnown.join(', ')}.`,
        ]),
  ]
  const told =
    desired === undefined
      ? describeStart(workspace, domain, known ?? new Map(), 'recorded')
      : describeStart(workspace, domain, desired, 'desired')
  return { sheet, told, notes }
}

/** Describes what is shown if that is recorded values alone; null if it is all that is known. */
function describeRecordedOnly(past: PastState | null, errors: string[]): string | null {
  if (past === null) return errors.length === 0 ? null : 'recorded; the manifests have errors'
  const { id, endedAt } = past.apply
  const when = endedAt === null ? 'whose end is not recorded' : formatTime(endedAt)
  return `recorded at the end of apply ${id}, ${when}`
}

/** Picks a domain of an observation: others are no concern of its sheet. */
function pickDomain(
  observed: Observation | null,
  domain: Domain,
  { vault }: LoadedWorkspace,
): Observation | null {
  if (observed === null) return null
  const own = mergeObserved(observed.data, (text) => vault.hideIn(text, observed.maker)).get(domain)
  return { ...observed, data: own === undefined ? {} : { [domain]: Object.fromEntries(own) } }
}

/** Names the domain of which a misspelt name may be one: a sentence, or empty. */
export function suggestDomain(name: string, known: Iterable<Domain>): string {
  return name.length > maxName ? '' : didYouMean(lowerAscii(name), known).trim()
}

function createUnknownError(
  domain: Domain,
  recordedOnly: string | null,
  owner: string | undefined,
  known: Domain[],
) {
  const name = quoteAsked(markAsked(domain))
  return new EdgewiseError(
    'usage',
    recordedOnly === null
      ? `neither manifests nor state have ${name}`
      : `no state of ${name} is ${recordedOnly}`,
    owner === undefined
      ? [suggestDomain(domain, known), '"edgewise state list" lists all recorded domains.']
          .join(' ')
          .trim()
      : `It belongs to the workspace "${owner}"` +
          (recordedOnly === null ? ': run the command there.' : ' now.'),
  )
}

/** Notes the number of errors of the manifests, and what follows; empty without errors. */
export function noteErrors(
  { diagnostics }: Pick<Workspace, 'diagnostics'>,
  consequence: string,
): string[] {
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  if (errors.length === 0) return []
  const count = pluralize(countProblems(errors), 'error')
  return [`The manifests have ${count}: ${consequence}.`]
}

/** Creates a lookup of the applies of a history, pruned ones too, and of what was refused. */
export async function createApplyLookup(store: Store) {
  const { applies } = await listHistory(store)
  const byId = new Map(applies.map((apply) => [apply.id, apply]))
  return { findApply: (id: string) => byId.get(id), findRefusal: indexRefusals(applies) }
}

/** Where domains and their fields stand. */
type Places = ItemPlaces & Pick<Workspace, 'findDomainPlace'>

/**
 * Describes where a domain is declared, and its fields.
 *
 * @param known sources of items of other domains, which those of the same profiles share
 */
export function describeDomain(
  { findDomainPlace, findProfiles, findTextPlace }: Places,
  domain: Domain,
  findOwners: (domain: Domain) => string[] = () => [],
  known = new Map<string, FieldSource[]>(),
) {
  const profiles = findProfiles(domain)
  return {
    domain,
    place: findDomainPlace(domain),
    profiles,
    owners: findOwners(domain),
    listSources: (item: ItemKey, state: ItemState): FieldSource[] => {
      const value = state.ordered ?? state.candidates[0]
      const fields = isObject(value) && Object.keys(value).length > 0 ? Object.keys(value) : ['']
      const whole = findTextPlace(domain, item, '')
      const isOwn = whole === null || whole.manifest === null
      const key = isOwn ? null : JSON.stringify([profiles, item, fields])
      const shared = key === null ? undefined : known.get(key)
      if (shared !== undefined) return shared
      const sources = fields.map((field) => {
        if (field === '') return { field, place: whole }
        const place = findTextPlace(domain, item, formatPointerStep(field))
        // A field that no text has is where its item is.
        return { field, place: place?.pointer === whole?.pointer ? null : place }
      })
      if (key !== null) known.set(key, sources)
      return sources
    },
  }
}
