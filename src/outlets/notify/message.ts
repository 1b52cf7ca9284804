import { createHash } from 'node:crypto'
import type { NotifyEvent } from '../../core/model/config.ts'
import type { Drift } from '../../core/model/drift.ts'
import { isObject, parseJson } from '../../core/model/json.ts'
import type { Configured } from '../../operations/runtime/workspace-parts.ts'
import type { NewMessage } from '../../state/postgres/outbox.ts'
import { listDiffering, type Content, type Notification } from './notification.ts'

const format = 'edgewise.notification/1'

/** The part of the configuration that notifications need. */
type Sender = Pick<Configured['config'], 'id' | 'notify'> & { service: { account: string } }

/**
 * Writes a notification to each receiver of one of some events.
 *
 * @param stamp its id, and its time in ISO 8601
 */
export function writeMessages(
  { id: workspace, service: { account }, notify }: Sender,
  content: Content,
  events: NotifyEvent[],
  stamp: Pick<Notification, 'id' | 'time'>,
): NewMessage[] {
  const text = JSON.stringify({ format, ...stamp, workspace, account, ...content })
  return notify
    .filter(({ on }) => on.some((event) => events.includes(event)))
    .map(({ key }) => ({ id: stamp.id, receiver: key, text }))
}

/** Parses a stored notification; null if a person has changed it. */
export function parseNotification(text: string): Notification | null {
  const data = parseJson(text)
  return isNotification(data) ? data : null
}

function isNotification(data: unknown): data is Notification {
  return (
    isObject(data) &&
    data['format'] === format &&
    ['id', 'time', 'workspace', 'account', 'title'].every((k) => typeof data[k] === 'string') &&
    Array.isArray(data['events']) &&
    Array.isArray(data['parts']) &&
    data['parts'].every(
      (part) => isObject(part) && Array.isArray(part['domains']) && Array.isArray(part['items']),
    )
  )
}

/** Hashes the items that differ, whose next report is new if it has others; empty for none. */
export function hashDrift(drift: Drift): string {
  const { unanswered = [] } = drift
  const differing = listDiffering(drift)
  const set = differing.map((each) => [each.domain, each.item, each.kinds, each.confidence])
  const all = unanswered.length === 0 ? set : [...set, unanswered]
  return all.length === 0 ? '' : hashText(JSON.stringify(all))
}

/** Returns the SHA-256 hash of a text, in hexadecimal. */
export function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
