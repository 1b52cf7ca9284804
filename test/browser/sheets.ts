import type { Change } from '../../src/core/model/change.ts'
import { fleetStates, type FleetRow } from '../../src/core/model/page/fleet.ts'
import type { DomainSheet, SheetItem } from '../../src/outlets/report/domain/sheet.ts'
import { nameDomain } from './pages.ts'

export const tablet = { width: 768, height: 1024 }
export const at = '2026-11-20T12:00:00.000Z'
export const now = Date.parse('2026-11-23T12:00:00.000Z')
const place = { file: 'domains/www.yaml', line: 3, column: 3, endLine: 3, endColumn: 9 }
const changed = {
  apply: 'a1',
  origin: 'write',
  at,
  commit: '4f0c2d9a1b3c55',
  author: 'Ada',
} as const
export const attacks = [
  '<script>window.__hit=1</script>',
  '</script><script>window.__hit=2</script>',
  '"><img src=x onerror=window.__hit=3>',
  "' autofocus onfocus=window.__hit=4 x='",
  'javascript:window.__hit=5',
  '../../etc/passwd',
  '..',
  '\u202Egnp.exe\u202C',
  '__proto__',
]

export function buildItem(item: string, given: Partial<SheetItem> = {}): SheetItem {
  return {
    item,
    value: { time: '60' },
    kept: {},
    isUnset: false,
    isReleased: false,
    condition: 'assumed',
    changed,
    candidates: [{ time: '60' }],
    recorded: null,
    pending: null,
    live: null,
    since: null,
    hold: null,
    refused: null,
    unreadable: null,
    ignored: null,
    sources: [{ field: 'time', place }],
    ...given,
  }
}

function buildChange(domain: string, item: string): Change {
  const [before, after] = [{ time: '60' }, { time: '61' }]
  const patch = [{ op: 'replace', path: '/time', value: '61' }] as const
  return { domain, item, action: 'change', reason: 'differs', before, after, patch: [...patch] }
}

export function buildSheet(domain: string, items: SheetItem[] = []): DomainSheet {
  const pending = buildItem('timeout', { pending: buildChange(domain, 'timeout') })
  const doubt = buildItem('https', { condition: 'in-doubt', candidates: [{}, { time: '1' }] })
  const live = buildItem('origin', { condition: 'differs', live: buildChange(domain, 'origin') })
  const all = [pending, doubt, live, buildItem('referer'), ...items]
  return {
    domain,
    place,
    profiles: ['base'],
    owners: ['team-shop'],
    recordedOnly: null,
    items: all,
  }
}

export function buildRows(count: number): FleetRow[] {
  return Array.from({ length: count }, (_, i) => {
    const state = fleetStates[i % 37] ?? 'recorded'
    const own = state === 'pending' ? { pending: 2 } : state === 'on-hold' ? { onHold: 1 } : {}
    return { domain: nameDomain(i), state, items: 16, ...own, confirmedAt: at, requests: i * 997 }
  })
}
