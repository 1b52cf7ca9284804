import type { NotifyEvent } from '../../core/model/config.ts'
import { formatCount, listSome } from '../../core/model/text/words.ts'
import type { Notification } from './notification.ts'

/** Domains and items that a message names; the rest is counted. */
const maxNames = 5
/** Parts that a message of a chat lists. */
const maxParts = 10

const titles: Partial<Record<NotifyEvent, string>> = {
  refused: 'Refused',
  'in-doubt': 'In-doubt',
  drift: 'Differs',
}

/** Lists the lines of a message for people; the first one is its title. */
export function listLines({
  title,
  workspace,
  account,
  apply,
  parts,
  next,
  history,
}: Notification): string[] {
  const more = parts.length - maxParts
  return [
    `Edgewise: ${title}`,
    `Workspace ${workspace}, account ${account}${apply === null ? '' : `, apply ${apply}`}`,
    ...parts.slice(0, maxParts).map(({ event, domains, items }) => {
      if (items.length === 0) return `Not at the service: ${listSome(domains, maxNames)}`
      const names = `${listSome(items, maxNames)} of ${listSome(domains, maxNames)}`
      return `${titles[event] ?? event}: ${names}`
    }),
    ...(more > 0 ? [`and ${formatCount(more)} more`] : []),
    ...(next === null ? [] : [`See: ${next}`]),
    ...(history === undefined ? [] : [`History: ${history}`]),
  ]
}
