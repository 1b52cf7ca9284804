import { expect, it } from 'vitest'
import type { NotifyConfig } from '../../src/core/model/config.ts'
import type { Drift, DriftItem } from '../../src/core/model/drift.ts'
import { hashDrift, parseNotification, writeMessages } from '../../src/outlets/notify/outbox.ts'
import { parseWorkspaceConfig } from '../../src/manifest/workspace-file/workspace-config.ts'
import { describeDrift, nothingLeft, type Content } from '../../src/outlets/notify/notification.ts'

const stamp = { id: 'one', time: '2026-11-20T03:00:00.000Z' }
const content: Content = { ...nothingLeft, events: ['refused'], title: 'No.' }
const buildReceiver = (key: string, on: NotifyConfig['on']): NotifyConfig => ({
  key,
  kind: 'webhook',
  url: '',
  on,
  variables: [],
})

it('a notification goes to the receivers of its events, and is read as it was written', () => {
  const notify = [
    buildReceiver('a', ['drift']),
    buildReceiver('b', ['drift', 'refused']),
    buildReceiver('c', ['refused']),
  ]
  const text = 'version: 1\nservice: {account: a}'
  const { config } = parseWorkspaceConfig({ path: 'edgewise.yaml', text }, {})
  if (config === null) throw new TypeError('expected a valid workspace file')
  const { service, serve } = config
  const messages = writeMessages({ id: 'w', service, serve, notify }, content, ['refused'], stamp)
  expect(messages.map(({ id, receiver }) => [id, receiver])).toEqual([
    ['one', 'b'],
    ['one', 'c'],
  ])
  expect(parseNotification(messages[0]?.text ?? '')).toEqual({
    format: 'edgewise.notification/1',
    workspace: 'w',
    account: 'a',
    ...stamp,
    ...content,
  })
})

it.each(['', '[]', '{"format":"edgewise.notification/2"}', '{"format":"edgewise.notification/1"}'])(
  'no notification is read from %j',
  (text) => {
    expect(parseNotification(text)).toBeNull()
  },
)

it('drift has another hash with each domain that the service does not have', () => {
  const drift: Drift = { items: [], pending: [], live: [], inDoubt: [] }
  expect(hashDrift(drift)).toBe('')
  const [one, two] = [['a.example.com'], ['b.example.com']].map((unanswered) =>
    hashDrift({ ...drift, unanswered }),
  )
  expect(one).toMatch(/^[0-9a-f]{64}$/)
  expect(two).not.toBe(one)
})

it('what waits for its wave is no drift, unless it differs at the service', () => {
  const waits: DriftItem = {
    domain: 'a.example.com',
    item: 'timeout',
    kinds: ['waiting'],
    confidence: 'in-doubt',
    recordedAt: null,
    pending: [],
    live: [],
    notVerifiable: [],
    held: false,
  }
  const build = (...items: DriftItem[]): Drift => ({ items, pending: [], live: [], inDoubt: [] })
  expect(hashDrift(build(waits))).toBe('')
  expect(describeDrift(build(waits))).toBeNull()
  const both = build(waits, { ...waits, kinds: ['waiting', 'live'] })
  expect(describeDrift(both)?.title).toBe('Drift: 1 item of 1 domain.')

  // A notification of its rollout told what is on hold; a change at the service is drift there too.
  const held: DriftItem = { ...waits, kinds: ['pending'], held: true }
  expect(hashDrift(build(held))).toBe('')
  expect(describeDrift(build(held))).toBeNull()
  const live: DriftItem = { ...held, kinds: ['pending', 'live'] }
  const other: DriftItem = { ...live, domain: 'b.example.com', item: 'other', held: false }
  expect(describeDrift(build(held, live, other))?.parts).toEqual([
    { event: 'drift', domains: [live.domain], items: [live.item] },
    { event: 'drift', domains: ['b.example.com'], items: ['other'] },
  ])
})
