import { catalogue } from '../catalog/catalogue.ts'
import { didYouMean } from '../catalog/value/nearest.ts'
import type { Amount } from '../model/amount.ts'
import { parseFreezeTime } from '../model/freeze.ts'
import type { ItemKey } from '../model/item.ts'
import { formatPointerStep } from '../model/json.ts'
import type { Finding } from './finding.ts'
import { checkAddress } from './service-address.ts'
import { createWorkspaceFinding as say } from './workspace-shape.ts'
import type { WorkspaceConfig } from './workspace.ts'

/**
 * What the schema of the workspace file can't say. `given` is the pointer of everything that the
 * file itself mentions.
 */
export function checkRules(
  config: WorkspaceConfig,
  given: (pointer: string) => boolean,
): Finding[] {
  return [
    ...checkAddress(config.service),
    ...timezoneFindings('/service/timezone', config.service.timezone),
    ...itemKeyFindings(config.service.itemKeys),
    ...globFindings('/manifests', config.manifests),
    ...globFindings('/profiles', config.profiles),
    ...Object.keys(config.defaults).flatMap((item) =>
      itemFindings(item, `/defaults${formatPointerStep(item)}`, 'item-unknown'),
    ),
    ...stateFindings(config, given),
    ...groupingFindings(config.grouping),
    ...freezeFindings(config.guards.freeze, given),
    ...waveFindings(config.rollout.waves),
  ]
}

function timezoneFindings(pointer: string, zone: string): Finding[] {
  const known = /^[A-Za-z]/.test(zone) && isZone(zone)
  if (known) return []
  const hint = didYouMean(zone, Intl.supportedValuesOf('timeZone'))
  return [
    say(pointer, `expected an IANA time zone such as UTC or Asia/Shanghai, got "${zone}".${hint}`),
  ]
}

function isZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== ''
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

function itemKeyFindings(itemKeys: Record<ItemKey, string>): Finding[] {
  const taken = new Map<string, string>()
  return Object.entries(itemKeys).flatMap(([item, wire]) => {
    const pointer = `/service/itemKeys${formatPointerStep(item)}`
    const other = taken.get(wire)
    taken.set(wire, item)
    if (other !== undefined)
      return [
        say(
          pointer,
          `the name "${wire}" is given to "${other}" already. Each item has a name of its own.`,
        ),
      ]
    if (wire !== item && catalogue.has(wire))
      return [say(pointer, `"${wire}" is the name of another item`)]
    return itemFindings(item, pointer)
  })
}

function itemFindings(
  item: string,
  pointer: string,
  code: Finding['code'] = 'workspace-invalid',
): Finding[] {
  if (catalogue.has(item)) return []
  const hint = didYouMean(item, catalogue.keys()) || ' "edgewise explain" lists all items.'
  return [{ ...say(pointer, `there is no item "${item}".${hint}`, 'key'), code }]
}

function globFindings(pointer: string, globs: string[]): Finding[] {
  return globs.flatMap((glob, i) => {
    const leaves = /^!?(?:[/\\]|[A-Za-z]:)/.test(glob) || glob.split(/[/\\{},()|]/).includes('..')
    return leaves
      ? [
          say(
            `${pointer}/${i}`,
            `expected a glob within the workspace, got "${glob}". Leave out ".." and a "/" at its beginning.`,
          ),
        ]
      : []
  })
}

function stateFindings({ state }: WorkspaceConfig, given: (pointer: string) => boolean): Finding[] {
  const foreign =
    state.store === 'git' ? ['path'] : state.store === 'dir' ? ['branch', 'remote'] : []
  const other = state.store === 'git' ? 'dir' : 'git'
  return foreign.flatMap((key) =>
    given(`/state/${key}`)
      ? [
          say(
            `/state/${key}`,
            `"${key}" belongs to "store: ${other}", and the store is ${state.store}`,
            'key',
          ),
        ]
      : [],
  )
}

function groupingFindings({ groups, together }: WorkspaceConfig['grouping']): Finding[] {
  const lists = [
    ...(typeof groups === 'string'
      ? []
      : groups.map((items, i) => ({ items, pointer: `/grouping/groups/${i}` }))),
    ...together.map((items, i) => ({ items, pointer: `/grouping/together/${i}` })),
  ]
  const placed = new Set<ItemKey>()
  return lists.flatMap(({ items, pointer }) =>
    items.flatMap((item, i) => {
      if (items.indexOf(item) < i)
        return [say(`${pointer}/${i}`, `"${item}" stands twice in this list`)]
      if (pointer.startsWith('/grouping/groups') && placed.has(item))
        return [
          say(
            `${pointer}/${i}`,
            `"${item}" is in another group already. Each item belongs to one group; join the two groups.`,
          ),
        ]
      placed.add(item)
      return itemFindings(item, `${pointer}/${i}`)
    }),
  )
}

function freezeFindings(
  windows: WorkspaceConfig['guards']['freeze'],
  given: (pointer: string) => boolean,
): Finding[] {
  return windows.flatMap(({ from, to, timezone }, i) => {
    const pointer = `/guards/freeze/${i}`
    // The service's own time zone, which stands in where none is given, has a finding of its own.
    const zone = given(`${pointer}/timezone`)
      ? timezoneFindings(`${pointer}/timezone`, timezone)
      : []
    const wrong = Object.entries({ from, to }).filter(([, time]) => parseFreezeTime(time) === null)
    const times = wrong.map(([key, time]) =>
      say(
        `${pointer}/${key}`,
        `expected a weekly time such as "Fri 16:00", a date such as 2026-12-20, or with a time 2026-12-20T18:00, got "${time}"`,
      ),
    )
    return [...zone, ...times, ...orderFindings(`${pointer}/to`, from, to)]
  })
}

function orderFindings(pointer: string, from: string, to: string): Finding[] {
  const [begin, end] = [parseFreezeTime(from), parseFreezeTime(to)]
  if (begin === null || end === null) return []
  if (begin.kind !== end.kind) {
    return [
      say(
        pointer,
        `expected an end of the same kind as the beginning (${from}): both weekly, both dates, or both with an offset, got "${to}"`,
      ),
    ]
  }
  const ordered = begin.kind === 'weekly' ? begin.at !== end.at : begin.at < end.at
  return ordered ? [] : [say(pointer, `expected an end after the beginning (${from}), got "${to}"`)]
}

function waveFindings(waves: Amount[]): Finding[] {
  const last = waves.at(-1)
  const pointer = `/rollout/waves/${waves.length - 1}`
  if (last === undefined || !('percent' in last) || last.percent !== 100)
    return [
      say(pointer, 'expected "100%" as the last wave, so that everything is applied in the end'),
    ]
  return waves.flatMap((wave, i) => {
    const before = waves.slice(0, i).findLast((other) => 'percent' in other === 'percent' in wave)
    return before !== undefined && sizeOf(before) >= sizeOf(wave)
      ? [say(`/rollout/waves/${i}`, 'expected more than the waves before: waves are cumulative')]
      : []
  })
}

function sizeOf(amount: Amount): number {
  return 'percent' in amount ? amount.percent : amount.count
}
