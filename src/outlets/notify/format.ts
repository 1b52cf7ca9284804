import type { NotifyConfig, ReceiverKind } from '../../core/model/config.ts'
import type { Message, Notification } from './notification.ts'
import { formatSlack } from './slack.ts'
import { formatTeams } from './teams.ts'
import { formatWebhook } from './webhook.ts'

/**
 * Builds a message. `secret`: key that signs it, empty for none. `sentAt`: time of the attempt, ms
 * since 1970; receivers refuse signatures of long ago.
 */
type Format = (notification: Notification, secret: string, sentAt: number) => Message

/** The receivers: a row each. */
const formats: Record<ReceiverKind, Format> = {
  webhook: formatWebhook,
  slack: formatSlack,
  teams: formatTeams,
}

/**
 * Formats a notification as its receiver expects it.
 *
 * @param sentAt time of the attempt, ms since 1970
 */
export function formatMessage(
  notification: Notification,
  { kind, secret = '' }: Pick<NotifyConfig, 'kind' | 'secret'>,
  sentAt = Date.parse(notification.time),
): Message {
  return formats[kind](notification, secret, sentAt)
}
