import { expect, it } from 'vitest'
import { formatMessage } from '../../src/outlets/notify/messages.ts'
import type { Notification } from '../../src/outlets/notify/notification.ts'

const notification: Notification = {
  id: 'one',
  time: '2026-11-20T03:00:00.000Z',
  workspace: 'w',
  account: 'a',
  events: ['refused'],
  title: 'Stopped: <!channel> & <https://example.com|here>',
  apply: null,
  by: null,
  commit: null,
  wave: null,
  reason: null,
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

const hostile: Notification = {
  ...notification,
  by: 'eve *bold* <@U1>',
  commit: '8c1f0aa3b2d18c1f0aa3b2d18c1f0aa3b2d18c1f',
  committed: { author: 'Eve', subject: '[click](https://evil.example.com)\n<!here>\u202e' },
  wave: { rollout: 'r1', number: 2, waves: 3, domains: ['a.net', 'b.net', 'c.net', 'd.net'] },
  reason: 'https://evil.example.com',
  parts: [{ event: 'refused', domains: ['a.net'], items: ['https'], text: 'no `\r\nNext: x' }],
  next: 'edgewise rollout approve r1',
  url: 'https://edgewise.example.com/rollouts/r1',
}

it('texts of others are one line each, without mentions, links and Markdown', () => {
  const lines = [
    'Workspace w, account a',
    'By: eve *bold* <@U1>',
    'Of: commit 8c1f0aa3b2d1 “[click](https://evil.example.com)\\n<!here>\\u{202e}” by Eve',
    'Wave: 2 of 3 of rollout r1',
    'Domains: a.net, b.net, c.net and 1 more',
    'Reason: https://evil.example.com',
    'Refused: https of a.net: no `\\r\\nNext: x',
    'Next: edgewise rollout approve r1',
  ]
  const teams = JSON.parse(formatMessage(hostile, { kind: 'teams' }).body)
  const { body, actions } = teams.attachments[0].content
  // A run of text has no Markdown.
  expect(body.slice(1)).toEqual(
    lines.map((text) => ({ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text }] })),
  )
  expect(actions).toEqual([{ type: 'Action.OpenUrl', title: 'Open', url: hostile.url }])
  const slack = JSON.parse(formatMessage(hostile, { kind: 'slack' }).body)
  const texts = slack.blocks.map((each: { text: object }) => each.text)
  const escape = (text: string) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const sections = [...lines.map(escape), `<${hostile.url}>`].map((text) => ({
    type: 'mrkdwn',
    text,
    verbatim: true,
  }))
  expect(texts.slice(1)).toEqual(sections)
})

it('a line of a message is not longer than a receiver takes', () => {
  const { body } = formatMessage({ ...hostile, reason: 'x'.repeat(9000) }, { kind: 'slack' })
  const { blocks } = JSON.parse(body) as { blocks: { text: { text: string } }[] }
  for (const { text } of blocks) expect(text.text.length).toBeLessThanOrEqual(3000)
})
