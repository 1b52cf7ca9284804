import { didYouMean } from '../../core/catalog/value/nearest.ts'
import {
  type ItemKeys,
  explainUnknown,
  findWireNameProblems,
} from '../../core/catalog/wire-names.ts'
import { checkAddress, checkNotify, checkState } from './address-rules.ts'
import type { Finding } from '../manifests/finding.ts'
import { listFileKinds } from './file-kinds.ts'
import { checkDomainGlobs, checkFileGlobs } from './glob-rules.ts'
import { checkMoved } from './moved-domains.ts'
import { checkPeople } from './people-rules.ts'
import { createWorkspaceFinding as createFinding } from './workspace-shape.ts'
import type { WorkspaceConfig } from './workspace.ts'
import type { Amount, RolloutConfig } from '../../core/model/config.ts'
import { parseFreezeTime } from '../../core/model/time/freeze.ts'
import type { ItemKey } from '../../core/model/item.ts'
import { type Json, type JsonObject, formatPointerStep, isObject } from '../../core/model/json.ts'
import { createTimeZone } from '../../core/model/time/time-zone.ts'
import { BadSetting, buildSettings } from '../../core/trace/settings.ts'

/**
 * Checks the rules of the workspace file that its schema can't express.
 *
 * @param find returns the value that the file itself has at a pointer
 */
export function checkRules(
  config: WorkspaceConfig,
  find: (pointer: string) => Json | undefined,
): Finding[] {
  return [
    ...checkAddress(config.service),
    ...checkTimezone('/service/timezone', config.service.timezone, find('/service/timezone')),
    ...checkItemKeys(config.service.itemKeys, find('/service/itemKeys')),
    ...Object.entries(listFileKinds(config)).flatMap(([kind, globs]) =>
      checkFileGlobs(`/${kind}`, globs),
    ),
    ...checkDomainGlobs(config),
    ...Object.keys(config.defaults).flatMap((item) =>
      checkItem(item, `/defaults${formatPointerStep(item)}`, 'item-unknown'),
    ),
    ...checkState(config.state, find),
    ...checkNotify(config.notify, find),
    ...checkServe(config),
    ...checkPeople(config, find),
    ...checkGrouping(config.grouping),
    ...checkPatterns('/guards/protect', config.guards.protect.flat()),
    ...config.roles.flatMap(({ domains }, i) => checkPatterns(`/roles/${i}/domains`, domains)),
    ...checkFreeze(config.guards.freeze, (pointer) => find(pointer) !== undefined),
    ...checkWaves(config.rollout.waves),
    ...checkApproval(config.rollout, find('/rollout/approval/wave') !== undefined),
    ...checkDrift(config),
    ...checkMoved(config.moved),
    ...checkReadings(config),
  ]
}

function checkReadings({ trace: { assume }, service }: WorkspaceConfig): Finding[] {
  return Object.entries(assume as JsonObject).flatMap(([name, answer]) => {
    try {
      buildSettings({ [name]: answer }, service.timezone)
      return []
    } catch (error) {
      if (!(error instanceof BadSetting)) throw error
      return [createFinding(`/trace/assume${formatPointerStep(name)}`, `${error.message}.`)]
    }
  })
}

function checkServe({ serve: { drift }, service }: WorkspaceConfig): Finding[] {
  if (!drift.repair || drift.observed !== null || service.readBack) return []
  const detail =
    '"repair" writes what differs at the service: it needs "observed" or "service.readBack".'
  return [createFinding('/serve/drift/repair', detail)]
}

function checkDrift({ drift }: WorkspaceConfig): Finding[] {
  return drift.ignore.flatMap(({ item }, i) => checkItem(item, `/drift/ignore/${i}/item`))
}

/** @param written the zone as messages show it: without values of the environment */
function checkTimezone(pointer: string, zone: string, written: Json = zone): Finding[] {
  const known = /^[A-Za-z]/.test(zone) && isZone(zone)
  if (known) return []
  const shown = String(written)
  const hint = didYouMean(shown, Intl.supportedValuesOf('timeZone'))
  return [
    createFinding(
      pointer,
      `expected an IANA time zone such as UTC or Asia/Shanghai, got "${shown}".${hint}`,
    ),
  ]
}

/** Zones that need no check: one takes 4 ms. The second is the default. */
const knownZones = ['UTC', 'Asia/Shanghai']

function isZone(zone: string): boolean {
  if (knownZones.includes(zone)) return true
  try {
    return createTimeZone(zone).name !== ''
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

function checkItemKeys(itemKeys: ItemKeys, written: Json | undefined): Finding[] {
  const names = Object.entries(isObject(written) ? written : {}).map(([item, name]) => [
    item,
    String(name),
  ])
  return findWireNameProblems(itemKeys, Object.fromEntries(names)).map(({ item, part, detail }) =>
    createFinding(
      `/service/itemKeys${formatPointerStep(item)}`,
      detail,
      part === 'item' ? 'key' : undefined,
    ),
  )
}

function checkItem(
  item: string,
  pointer: string,
  code: Finding['code'] = 'workspace-invalid',
): Finding[] {
  const detail = explainUnknown(item)
  return detail === null ? [] : [{ ...createFinding(pointer, detail, 'key'), code }]
}

function checkGrouping({ groups, together }: WorkspaceConfig['grouping']): Finding[] {
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
        return [
          createFinding(`${pointer}/${i}`, `"${item}" is listed twice. Remove one of the two.`),
        ]
      if (pointer.startsWith('/grouping/groups') && placed.has(item))
        return [
          createFinding(
            `${pointer}/${i}`,
            `"${item}" is already in another group. An item can be in one group only: ` +
              'merge the two groups.',
          ),
        ]
      placed.add(item)
      return checkItem(item, `${pointer}/${i}`)
    }),
  )
}

/** `!(…)` would be ambiguous: `!` and a group, or an extended glob. */
function checkPatterns(pointer: string, globs: string[]): Finding[] {
  return globs.flatMap((glob, i) => {
    if (!/^!(?:[!(]|$)/.test(glob)) return []
    const detail = `expected "!" and then a glob without "!" or "(" at its start, got "${glob}"`
    return [createFinding(`${pointer}/${i}`, detail)]
  })
}

function checkFreeze(
  windows: WorkspaceConfig['guards']['freeze'],
  isGiven: (pointer: string) => boolean,
): Finding[] {
  return windows.flatMap(({ from, to, timezone }, i) => {
    const pointer = `/guards/freeze/${i}`
    // The default is the service's time zone, which has its own check.
    const zone = isGiven(`${pointer}/timezone`)
      ? checkTimezone(`${pointer}/timezone`, timezone)
      : []
    const wrong = Object.entries({ from, to }).filter(([, time]) => parseFreezeTime(time) === null)
    const times = wrong.map(([key, time]) =>
      createFinding(
        `${pointer}/${key}`,
        'expected a weekly time such as "Fri 16:00", a date such as 2026-12-20, or a date ' +
          `and time such as 2026-12-20T18:00, got "${time}"`,
      ),
    )
    return [...zone, ...times, ...checkOrder(`${pointer}/to`, from, to)]
  })
}

function checkOrder(pointer: string, from: string, to: string): Finding[] {
  const [start, end] = [parseFreezeTime(from), parseFreezeTime(to)]
  if (start === null || end === null) return []
  if (start.kind !== end.kind) {
    return [
      createFinding(
        pointer,
        `expected "to" in the same form as "from" (${from}): both weekly, both dates, or ` +
          `both with an offset, got "${to}"`,
      ),
    ]
  }
  const ordered = start.kind === 'weekly' ? start.at !== end.at : start.at < end.at
  return ordered
    ? []
    : [createFinding(pointer, `expected "to" to be later than "from" (${from}), got "${to}"`)]
}

/** @param isMapping whether `approval` is a mapping with a wave */
function checkApproval(
  { approval, waves: { length: waves } }: RolloutConfig,
  isMapping: boolean,
): Finding[] {
  return approval.flatMap((number, i) => {
    const pointer = `/rollout/approval/${isMapping ? 'wave' : i}`
    if (number > waves) {
      const which = waves === 1 ? '1, the only wave' : `the number of one of the ${waves} waves`
      return [createFinding(pointer, `expected ${which}, got ${number}`)]
    }
    return approval.indexOf(number) < i
      ? [createFinding(pointer, `the wave ${number} is listed twice. Remove one of the two.`)]
      : []
  })
}

function checkWaves(waves: Amount[]): Finding[] {
  const last = waves.at(-1)
  const pointer = `/rollout/waves/${waves.length - 1}`
  if (last === undefined || !('percent' in last) || last.percent !== 100)
    return [
      createFinding(
        pointer,
        'expected "100%" as the last wave, so that everything is applied in the end',
      ),
    ]
  return waves.flatMap((wave, i) => {
    const before = waves.slice(0, i).findLast((other) => 'percent' in other === 'percent' in wave)
    return before !== undefined && getSize(before) >= getSize(wave)
      ? [
          createFinding(
            `/rollout/waves/${i}`,
            'expected more than in the waves before: waves are cumulative',
          ),
        ]
      : []
  })
}

function getSize(amount: Amount): number {
  return 'percent' in amount ? amount.percent : amount.count
}
