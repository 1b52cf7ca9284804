import { expect, it } from 'vitest'
import { formatMessage } from '../../src/outlets/notify/send.ts'
import type { Notification } from '../../src/outlets/notify/notification.ts'

const notification: Notification = {
  id: 'one',
  time: '2026-11-20T03:00:00.000Z',
  workspace: 'w',
  account: 'a',
  events: ['refused'],
  title: 'Stopped: <!channel> & <https://example.com|here>',
  apply: null,
  parts: Array.from({ length: 12 }, (_, i) => ({
    event: 'refused',
    domains: [`d${i}.example.com`],
    items: ['timeout'],
  })),
  next: null,
}

it('a message for Slack has no commands of it, whatever the title is', () => {
  const { body, headers } = formatMessage(notification, { kind: 'slack' })
  expect(body).toContain('Stopped: &lt;!channel&gt; &amp; &lt;https://example.com|here&gt;')
  expect(body).not.toMatch(/[<>]/)
  expect(headers).toEqual({})
})

it.each(['slack', 'teams'] as const)(
  'a message for %s lists ten parts, and counts the rest',
  (kind) => {
    const { body } = formatMessage(notification, { kind })
    expect(body.match(/Refused: timeout of d/g)).toHaveLength(10)
    expect(body).toContain('and 2 more')
  },
)

it('a webhook gets all parts, and no signature without a key', () => {
  const { body, headers } = formatMessage(notification, { kind: 'webhook' })
  expect(JSON.parse(body)).toEqual({ format: 'edgewise.notification/1', ...notification })
  expect(headers).toEqual({ 'webhook-id': 'one', 'webhook-timestamp': '1795143600' })
})
