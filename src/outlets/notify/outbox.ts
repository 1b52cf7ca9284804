import { findNewestHash } from '../../operations/history/verify-history.ts'
import type { Configured, Settings, Outside } from '../../operations/runtime/parts.ts'
import {
  OutboxRows,
  type ClaimedMessage,
  type NewMessage,
  type ReportedDrift,
} from '../../state/postgres/outbox.ts'
import type { NotifyConfig, NotifyEvent } from '../../core/model/config.ts'
import type { Drift } from '../../core/model/drift.ts'
import { throwDefect } from '../../core/model/edgewise-error.ts'
import { createTransport } from '../../operations/runtime/connect.ts'
import { listWaiting } from '../../operations/rollouts.ts'
import { findCurrentWave } from '../../core/model/rollout.ts'
import { heartbeatMs } from '../../state/locks/lease.ts'
import { getProcessId } from '../../state/locks/machine.ts'
import type { Database } from '../../state/postgres/database.ts'
import { openDatabase } from '../../state/postgres/open-database.ts'
import {
  describeDrift,
  describeGone,
  describeLost,
  describeWait,
  measureDrift,
  type Content,
  listDiffering,
  type Notification,
} from './notification.ts'
import { sendNotification } from './send.ts'
import { createHash } from 'node:crypto'
import { isObject, parseJson } from '../../core/model/json.ts'

/** Outcomes of the notifications that were due. */
export interface Delivered {
  sent: number
  /** Failed; another attempt follows. */
  postponed: number
  /** Given up after a day. */
  givenUp: number
  /** Notifications of receivers that are not configured any more. */
  dropped: number
  /** Failures, by the number of its receiver, without addresses. */
  failures: string[]
}

type Config = Configured['config']

/** Events whose receivers get to know that an apply was lost. */
const applyEvents: NotifyEvent[] = ['applied', 'refused', 'in-doubt', 'failed', 'rollout']

/** Opens the notifications of a workspace; null if its state is not in a database. */
export function openOutbox(workspace: Settings, outside: Outside): Outbox | null {
  const { config, scrub } = workspace
  if (config.state.database === undefined) return null
  const { databasePatienceMs: patienceMs } = outside
  const newId = () => outside.newId()
  const context = { ...outside, scrub, newId, patienceMs }
  return new Outbox(workspace, openDatabase(config.state.database, context), outside)
}

/**
 * Notifications of a workspace in its database, which are sent at least once. Its methods throw
 * EdgewiseError `record-unreachable` if the database can't be used.
 */
class Outbox {
  readonly #database: Database
  readonly #outside: Outside
  readonly #rows: OutboxRows
  readonly #workspace: Settings
  /** Applies of this process that have begun. */
  readonly #begun = new Map<string, { ended: AbortController; since: string }>()

  constructor(workspace: Settings, database: Database, outside: Outside) {
    const { config } = workspace
    this.#workspace = workspace
    this.#database = database
    this.#outside = outside
    this.#rows = new OutboxRows(database.schema, config.id, config.service.url)
  }

  /** Records that an apply begins, and returns its token; others report it if this does not. */
  async begin(reason: string): Promise<string> {
    const { machine, user: who } = this.#outside
    const [token, since] = [this.#outside.newId(), this.#formatNow()]
    const holder = { token, who, reason, since, ...getProcessId(machine), lateMs: 0 }
    await this.#database.transact((sql) => this.#rows.addBegun(sql, holder))
    const ended = new AbortController()
    this.#begun.set(token, { ended, since })
    void this.#showAlive(token, ended.signal)
    return token
  }

  /** Replaces what began, if anything did, by notifications, in one transaction. */
  async finish(token: string | null, contents: Content[]): Promise<void> {
    await this.#replaceBegun(token, () => contents.flatMap((content) => this.#write(content)))
  }

  /** Ends what began and failed: receivers get to know that its outcome was not reported. */
  async abandon(token: string): Promise<void> {
    await this.#replaceBegun(token, (since = this.#formatNow()) =>
      this.#writeLost(since, this.#outside.user),
    )
  }

  async #replaceBegun(token: string | null, write: (since?: string) => NewMessage[]) {
    const begun = this.#begun.get(token ?? '')
    begun?.ended.abort()
    this.#begun.delete(token ?? '')
    const messages = write(begun?.since)
    await this.#database.transact(async (sql) => {
      if (token !== null) await this.#rows.deleteBegun(sql, [token])
      await this.#rows.add(sql, messages)
    })
  }

  /**
   * Stores a notification if the differing items are not those that were reported last.
   *
   * @param scope what was compared: other selections are remembered apart
   */
  async reportDrift(drift: Drift, scope: string): Promise<void> {
    const current = { hash: hashDrift(drift), ...measureDrift(drift) }
    await this.#reportChange(
      scope,
      current,
      (last) => describeDrift(drift) ?? describeGone(last, drift.unread),
    )
  }

  /**
   * Stores a notification unless the last one about this topic had the same subject.
   *
   * @param topic no scope of drift
   */
  async reportOnce(topic: string, subject: string, content: Content): Promise<void> {
    const current = { hash: hashText(subject), items: 0, domains: 0 }
    await this.#reportChange(topic, current, () => content)
  }

  async #reportChange(
    topic: string,
    current: ReportedDrift,
    describe: (last: ReportedDrift) => Content,
  ): Promise<void> {
    await this.#database.transact(async (sql) => {
      const last = await this.#rows.replaceDrift(sql, hashText(topic), current)
      if (last !== null) await this.#rows.add(sql, this.#write(describe(last)))
    })
  }

  /** Stores a notification of each wave that waits for approval, once, whoever made it wait. */
  async #announceWaits(): Promise<void> {
    for (const rollout of await listWaiting(this.#workspace, this.#outside)) {
      const wave = `${findCurrentWave(rollout)}`
      await this.reportOnce(`wait ${rollout.id}`, wave, describeWait(rollout))
    }
  }

  /** Sends what is due, in the order of each receiver. Never fails because of a receiver. */
  async deliverDue(): Promise<Delivered> {
    await this.#announceWaits()
    const delivered = { sent: 0, postponed: 0, givenUp: 0, dropped: 0, failures: [] }
    const keys = await this.#database.transact(async (sql) => {
      const lost = await this.#rows.takeLost(sql, this.#outside.machine)
      const messages = lost.flatMap(({ begun, who }) => this.#writeLost(begun, who))
      await this.#rows.add(sql, messages)
      return this.#rows.listReceivers(sql)
    })
    await Promise.all(keys.map((key) => this.#deliverTo(key, delivered)))
    return delivered
  }

  count(): Promise<{ pending: number; givenUp: number; oldestSeconds: number }> {
    return this.#database.transact((sql) => this.#rows.count(sql))
  }

  async #deliverTo(key: string, delivered: Delivered): Promise<void> {
    const [database, rows] = [this.#database, this.#rows]
    const index = this.#workspace.config.notify.findIndex((each) => each.key === key)
    const receiver = this.#workspace.config.notify[index]
    if (receiver === undefined) {
      delivered.dropped += await database.transact((sql) => rows.dropReceiver(sql, key))
      return
    }
    while (!this.#outside.signal.aborted) {
      const claim = this.#outside.newId()
      const message = await database.transact((sql) => rows.claimNext(sql, key, claim))
      if (message === null) return
      const { number } = message
      const failure = await this.#attempt(message, receiver)
      if (failure === null) {
        await database.transact((sql) => rows.deleteSent(sql, number))
        delivered.sent++
        continue
      }
      const isGivenUp = await database.transact((sql) => rows.postpone(sql, number, claim, failure))
      delivered[isGivenUp ? 'givenUp' : 'postponed']++
      delivered.failures.push(`${receiver.kind} (number ${index + 1} of "notify"): ${failure}`)
    }
  }

  async #attempt({ text, attempts }: ClaimedMessage, receiver: NotifyConfig) {
    const notification = parseNotification(text)
    if (notification === null) return 'its row in the database is damaged'
    const connect = (url: string) => createTransport(url, this.#outside)
    const find = () => findNewestHash(this.#workspace, this.#outside)
    const context = { ...this.#outside, createTransport: connect, findNewestHash: find }
    return sendNotification(notification, receiver, context, attempts === 0)
  }

  /** Gives signs of life of an apply until its end. */
  async #showAlive(token: string, ended: AbortSignal): Promise<void> {
    for (;;) {
      await this.#outside.clock.sleep(heartbeatMs, ended, 'lock-beat')
      if (ended.aborted) return
      try {
        await this.#database.transact((sql) => this.#rows.showAlive(sql, token))
      } catch (error) {
        // The next one may succeed; without any, others report this apply as lost.
        throwDefect(error)
      }
    }
  }

  #writeLost(begun: string, who: string): NewMessage[] {
    return this.#write(describeLost(begun, who), applyEvents)
  }

  #write(content: Content, wanted = content.events): NewMessage[] {
    const stamp = { id: this.#outside.newId(), time: this.#formatNow() }
    return writeMessages(this.#workspace.config, content, wanted, stamp)
  }

  #formatNow(): string {
    return new Date(this.#outside.clock.now()).toISOString()
  }
}

export type { Outbox }

const format = 'edgewise.notification/1'

/** The part of the configuration that notifications need. */
type Sender = Pick<Config, 'id' | 'notify' | 'service' | 'serve'>

/**
 * Writes a notification to each receiver of one of some events.
 *
 * @param stamp its id, and its time in ISO 8601
 */
export function writeMessages(
  config: Sender,
  content: Content,
  events: NotifyEvent[],
  stamp: Pick<Notification, 'id' | 'time'>,
): NewMessage[] {
  const text = JSON.stringify({ format, ...completeContent(config, content, stamp) })
  return config.notify
    .filter(({ on }) => on.some((event) => events.includes(event)))
    .map(({ key }) => ({ id: stamp.id, receiver: key, text }))
}

/** Completes a notification by where it comes from, and the page that has more. */
export function completeContent(
  { id: workspace, service: { account }, serve }: Omit<Sender, 'notify'>,
  content: Content,
  stamp: Pick<Notification, 'id' | 'time'>,
): Notification {
  const { wave, events } = content
  const page = wave === null ? '' : `rollouts/${encodeURIComponent(wave.rollout)}`
  const path = events.includes('drift') ? 'drift' : page
  const url = serve.url === null ? undefined : `${serve.url}/${path}`
  return { ...stamp, workspace, account, ...content, url }
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
function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
