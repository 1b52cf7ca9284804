import { createHash } from 'node:crypto'
import type { NotifyConfig, NotifyEvent } from '../model/config.ts'
import type { Drift } from '../model/drift.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { isObject, parseJson } from '../model/json.ts'
import { createTransport } from '../operations/connect.ts'
import type { LoadedWorkspace } from '../operations/load-workspace.ts'
import type { Outside } from '../operations/outside.ts'
import { heartbeatMs } from '../state/lease.ts'
import { openDatabase } from '../state/postgres/open-database.ts'
import * as begunRows from '../state/postgres/outbox-begun.ts'
import * as rowsOf from '../state/postgres/outbox.ts'
import {
  describeDrift,
  describeGone,
  describeLost,
  listDiffering,
  measureDrift,
} from './notification.ts'
import type { Content, Notification } from './notification.ts'
import { sendNotification } from './send.ts'

/** What became of the notifications that were due. */
export interface Delivered {
  sent: number
  /** Failed; another attempt follows. */
  postponed: number
  /** Given up after a day. */
  givenUp: number
  /** Of receivers that are not configured any more. */
  dropped: number
  /** What failed, by the number of its receiver, without addresses. */
  failures: string[]
}

/** Notifications of a workspace in its database, which are sent at least once. */
export interface Outbox {
  /** Records that an apply begins, and returns its token; others report it if this does not. */
  begin(reason: string): Promise<string>
  /** Replaces what began, if anything did, by notifications, in one transaction. */
  finish(token: string | null, contents: Content[]): Promise<void>
  /** Ends what began and failed: receivers get to know that its outcome was not reported. */
  abandon(token: string): Promise<void>
  /**
   * Stores a notification if the differing items are not those that were reported last.
   *
   * @param scope what was compared: other selections are remembered apart
   */
  reportDrift(drift: Drift, scope: string): Promise<void>
  /**
   * Stores a notification unless the last one about this topic had the same subject.
   *
   * @param topic no scope of drift
   */
  reportOnce(topic: string, subject: string, content: Content): Promise<void>
  /** Sends what is due, in the order of each receiver. Never fails because of a receiver. */
  deliverDue(): Promise<Delivered>
  count(): Promise<{ pending: number; givenUp: number; oldestSeconds: number }>
}

type OutboxWorkspace = Pick<LoadedWorkspace, 'config' | 'scrub'>

/** Events whose receivers get to know that an apply was lost. */
const applyEvents: NotifyEvent[] = ['applied', 'refused', 'in-doubt', 'failed', 'rollout']

/**
 * Opens the notifications of a workspace; null if its state is not in a database. Its methods
 * throw EdgewiseError `record-unreachable` if the database can't be used.
 */
export function openOutbox(workspace: OutboxWorkspace, outside: Outside): Outbox | null {
  const { config, scrub } = workspace
  const { clock, signal, machine, createPool } = outside
  const { id, service, notify } = config
  if (config.state.database === undefined) return null
  const newId = () => outside.newId()
  const database = openDatabase(config.state.database, { clock, signal, scrub, newId, createPool })
  const { schema } = database
  const rows = { schema, workspace: id, address: service.url }
  const beats = new Map<string, { ended: AbortController; since: string }>()
  const write = (content: Content, wanted = content.events): rowsOf.NewMessage[] => {
    const time = new Date(clock.now()).toISOString()
    const notification = { id: newId(), time, workspace: id, account: service.account, ...content }
    const text = JSON.stringify({ format: 'edgewise.notification/1', ...notification })
    return notify
      .filter(({ on }) => on.some((event) => wanted.includes(event)))
      .map(({ key }) => ({ id: notification.id, receiver: key, text }))
  }
  const reportLost = ({ begun, who }: begunRows.LostApply) =>
    write(describeLost(begun, who), applyEvents)
  const beat = async (token: string, ended: AbortSignal) => {
    for (;;) {
      await clock.sleep(heartbeatMs, ended, 'lock-beat')
      if (ended.aborted) return
      try {
        await database.transact((sql) => begunRows.showAlive(sql, schema, token))
      } catch (error) {
        // The next one may succeed; without any, others report this apply as lost.
        if (!(error instanceof EdgewiseError)) throw error
      }
    }
  }
  const end = (token: string | null) => {
    if (token === null) return
    beats.get(token)?.ended.abort()
    beats.delete(token)
  }
  const deliverTo = async (key: string, delivered: Delivered) => {
    const index = notify.findIndex((each) => each.key === key)
    const receiver = notify[index]
    if (receiver === undefined) {
      delivered.dropped += await database.transact((sql) => rowsOf.dropReceiver(sql, rows, key))
      return
    }
    while (!signal.aborted) {
      const claim = newId()
      const message = await database.transact((sql) => rowsOf.claimNext(sql, rows, key, claim))
      if (message === null) return
      const failure = await attempt(message, receiver)
      if (failure === null) {
        await database.transact((sql) => rowsOf.deleteSent(sql, schema, message.number))
        delivered.sent++
        continue
      }
      const isGivenUp = await database.transact((sql) =>
        rowsOf.postpone(sql, schema, message.number, claim, failure),
      )
      delivered[isGivenUp ? 'givenUp' : 'postponed']++
      delivered.failures.push(`${receiver.kind} (number ${index + 1} of "notify"): ${failure}`)
    }
  }
  const attempt = (message: rowsOf.ClaimedMessage, receiver: NotifyConfig) => {
    const notification = parseNotification(message.text)
    if (notification === null) return Promise.resolve('its row in the database is damaged')
    const isQuick = message.attempts === 0
    const connect = (url: string) => createTransport(url, outside)
    return sendNotification(
      notification,
      receiver,
      { clock, signal, createTransport: connect },
      isQuick,
    )
  }
  return {
    begin: async (reason) => {
      const { boot, namespace, pid, started } = machine
      const [token, since] = [newId(), new Date(clock.now()).toISOString()]
      const process = { boot, namespace, pid, started, lateMs: null }
      const holder = { token, who: outside.user, reason, since, ...process }
      await database.transact((sql) => begunRows.addBegun(sql, rows, holder))
      const ended = new AbortController()
      beats.set(token, { ended, since })
      void beat(token, ended.signal)
      return token
    },
    finish: async (token, contents) => {
      end(token)
      const messages = contents.flatMap((content) => write(content))
      await database.transact(async (sql) => {
        if (token !== null) await begunRows.deleteBegun(sql, schema, token)
        await rowsOf.addMessages(sql, rows, messages)
      })
    },
    abandon: async (token) => {
      const begun = beats.get(token)?.since ?? new Date(clock.now()).toISOString()
      end(token)
      const messages = write(describeLost(begun, outside.user), applyEvents)
      await database.transact(async (sql) => {
        await begunRows.deleteBegun(sql, schema, token)
        await rowsOf.addMessages(sql, rows, messages)
      })
    },
    reportDrift: async (drift, scope) => {
      const set = listDiffering(drift).map((item) => [
        item.domain,
        item.item,
        item.kinds,
        item.confidence,
      ])
      const { unanswered = [], unread } = drift
      const all = unanswered.length === 0 ? set : [...set, unanswered]
      const extent = measureDrift(drift)
      const hash = all.length === 0 ? '' : hashText(JSON.stringify(all))
      await database.transact(async (sql) => {
        const last = await begunRows.replaceDrift(sql, rows, hashText(scope), { hash, ...extent })
        if (last === null) return
        const content = describeDrift(drift) ?? describeGone(last, unread)
        await rowsOf.addMessages(sql, rows, write(content))
      })
    },
    reportOnce: async (topic, subject, content) => {
      const current = { hash: hashText(subject), items: 0, domains: 0 }
      await database.transact(async (sql) => {
        const last = await begunRows.replaceDrift(sql, rows, hashText(topic), current)
        if (last !== null) await rowsOf.addMessages(sql, rows, write(content))
      })
    },
    deliverDue: async () => {
      const delivered = { sent: 0, postponed: 0, givenUp: 0, dropped: 0, failures: [] }
      const keys = await database.transact(async (sql) => {
        const lost = await begunRows.takeLost(sql, rows, machine)
        await rowsOf.addMessages(sql, rows, lost.flatMap(reportLost))
        return rowsOf.listReceivers(sql, rows)
      })
      await Promise.all(keys.map((key) => deliverTo(key, delivered)))
      return delivered
    },
    count: () => database.transact((sql) => rowsOf.countMessages(sql, rows)),
  }
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Parses a stored notification; null if a person has changed it. */
function parseNotification(text: string): Notification | null {
  const data = parseJson(text)
  return isNotification(data) ? data : null
}

function isNotification(data: unknown): data is Notification {
  return (
    isObject(data) &&
    data['format'] === 'edgewise.notification/1' &&
    ['id', 'time', 'workspace', 'account', 'title'].every((k) => typeof data[k] === 'string') &&
    Array.isArray(data['events']) &&
    Array.isArray(data['parts']) &&
    data['parts'].every(
      (part) => isObject(part) && Array.isArray(part['domains']) && Array.isArray(part['items']),
    )
  )
}
