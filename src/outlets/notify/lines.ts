import type { NotifyEvent } from '../../core/model/config.ts'
import { describeTree } from '../../core/model/source-tree.ts'
import { countMore, listSome, mapSome } from '../../core/model/text/words.ts'
import { escapeInvisible } from '../report/text/escape-invisible.ts'
import type { Notification } from './notification.ts'

/** Parts that a message of a chat lists. */
const maxParts = 10
/** Longest line, UTF-16. */
const maxLine = 1000

const titles: Partial<Record<NotifyEvent, string>> = {
  refused: 'Refused',
  'in-doubt': 'In-doubt',
  drift: 'Differs',
}

/** Lists the lines of a message for people, without its link; the first one is its title. */
export function listLines(notification: Notification): string[] {
  const { title, workspace, account, apply, by, wave } = notification
  const { reason, parts, next, history = null } = notification

  const add = (name: string, text: string | null) => (text === null ? [] : [`${name}: ${text}`])
  return [
    `Edgewise: ${title}`,
    `Workspace ${workspace}, account ${account}${apply === null ? '' : `, apply ${apply}`}`,
    ...add('By', by),
    ...add('Of', describeTree(notification)),
    ...add('Wave', wave && `${wave.number} of ${wave.waves} of rollout ${wave.rollout}`),
    ...add('Domains', wave && listSome(wave.domains)),
    ...add('Reason', reason),
    ...mapSome(
      parts,
      maxParts,
      ({ event, domains, items, text }) => {
        if (items.length === 0) return `Not at the service: ${listSome(domains)}`
        const why = text === undefined ? '' : `: ${text}`
        return `${titles[event] ?? event}: ${listSome(items)} of ${listSome(domains)}${why}`
      },
      countMore,
    ),
    ...add('Next', next),
    ...add('History', history),
  ].map((line) => escapeInvisible(line).slice(0, maxLine))
}
