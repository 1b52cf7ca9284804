import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { createHmac } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { Webhook } from 'standardwebhooks'
import { closeHttp, now, startHttp, type HttpStage } from './http-stage.ts'

afterEach(closeHttp)

const secret = 'the-secret'
const body = '{"ref":"refs/heads/main","text":"é"}'
/** Signs as GitHub does. */
const hub = (text: string, key = secret) =>
  `sha256=${createHmac('sha256', key).update(text).digest('hex')}`
/** Signs as Standard Webhooks do. */
function standard(text = body, { key = secret, at = now, id = 'msg_1' } = {}) {
  const signer = key.startsWith('whsec_') ? new Webhook(key) : new Webhook(key, { format: 'raw' })
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': signer.sign(id, new Date(at), text),
  }
}

type Sent = RequestInit['headers']
const post = ({ url }: HttpStage, headers: Sent, text = body) =>
  fetch(`${url}/webhook`, { method: 'POST', headers, body: text })

/** Posts a webhook; returns the status, what the controller did and both counters. */
async function send(headers: Sent, { text = body, webhookSecret = secret } = {}) {
  const http = await startHttp({}, { webhookSecret })
  const { status } = await post(http, headers, text)
  const counts = [
    await http.count('webhooks_total', 'accepted'),
    await http.count('webhooks_total', 'refused'),
  ]
  return [status, http.calls, counts]
}

const accepted = [202, ['poke'], [1, 0]]
const refused = [401, [], [0, 1]]
const whsec = `whsec_${Buffer.from('a key of thirty-two bytes, or so').toString('base64')}`
const { 'webhook-signature': wrong } = standard(body, { key: 'another' })

describe('a webhook is accepted', () => {
  it.each([
    ['X-Hub-Signature-256', { 'X-Hub-Signature-256': hub(body) }],
    ['Standard Webhooks', standard()],
    ['X-Gitlab-Token', { 'X-Gitlab-Token': secret }],
    ['one of two signatures', signAgain(`${wrong} ${standard()['webhook-signature']}`)],
    ['a message of four minutes ago', standard(body, { at: now - 240_000 })],
    ['a message of a clock that is ahead', standard(body, { at: now + 240_000 })],
  ])('%s', async (_name, headers) => {
    expect(await send(headers)).toEqual(accepted)
  })

  it('by a key in base64', async () => {
    const options = { webhookSecret: whsec }
    expect(await send(standard(body, { key: whsec }), options)).toEqual(accepted)
    // GitHub and GitLab use the secret as it stands.
    expect(await send({ 'X-Hub-Signature-256': hub(body, whsec) }, options)).toEqual(accepted)
    expect(await send({ 'X-Gitlab-Token': whsec }, options)).toEqual(accepted)
  })

  it('with an empty body, and with a large one', async () => {
    for (const text of ['', 'x'.repeat(3_000_000)])
      expect(await send({ 'X-Hub-Signature-256': hub(text) }, { text })).toEqual(accepted)
  })
})

function signAgain(signature: string, others: Record<string, string> = {}) {
  return { ...standard(), 'webhook-signature': signature, ...others }
}

describe('a webhook is refused', () => {
  it.each<[string, Record<string, string>]>([
    ['no header', {}],
    ['hub: another key', { 'X-Hub-Signature-256': hub(body, 'another') }],
    ['hub: another body', { 'X-Hub-Signature-256': hub(`${body} `) }],
    ['hub: truncated', { 'X-Hub-Signature-256': hub(body).slice(0, -1) }],
    ['hub: longer', { 'X-Hub-Signature-256': `${hub(body)}0` }],
    ['hub: without algorithm', { 'X-Hub-Signature-256': hub(body).slice(7) }],
    ['hub: empty', { 'X-Hub-Signature-256': '' }],
    ['hub: SHA-1 only', { 'X-Hub-Signature': 'sha1=9a3a7a5fb7d3e4cbd2a1b1ac3e4bfd1be8cf10b6' }],
    ['standard: another key', standard(body, { key: 'another' })],
    ['standard: another body', standard(`${body} `)],
    ['standard: six minutes ago', standard(body, { at: now - 360_000 })],
    ['standard: in six minutes', standard(body, { at: now + 360_000 })],
    [
      'standard: changed time',
      signAgain(standard()['webhook-signature'], { 'webhook-timestamp': '1767323046' }),
    ],
    ['standard: changed id', signAgain(standard()['webhook-signature'], { 'webhook-id': 'msg_2' })],
    ['standard: no time', signAgain(standard()['webhook-signature'], { 'webhook-timestamp': '' })],
    [
      'standard: odd time',
      signAgain(standard()['webhook-signature'], { 'webhook-timestamp': '1e9' }),
    ],
    ['standard: truncated', signAgain(standard()['webhook-signature'].slice(0, -2))],
    ['standard: version 2', signAgain(standard()['webhook-signature'].replace('v1', 'v2'))],
    ['standard: only the version', signAgain('v1,')],
    ['standard: empty', signAgain('')],
    ['gitlab: another token', { 'X-Gitlab-Token': 'another' }],
    ['gitlab: truncated', { 'X-Gitlab-Token': secret.slice(0, -1) }],
    ['gitlab: longer', { 'X-Gitlab-Token': `${secret}x` }],
    ['gitlab: empty', { 'X-Gitlab-Token': '' }],
    ['a web page', { 'X-Gitlab-Token': secret, Origin: 'https://evil.example.com' }],
  ])('%s', async (_name, headers) => {
    expect(await send(headers)).toEqual(refused)
  })

  it('when a stronger header is wrong, whatever the weaker ones are', async () => {
    const gitlab = { 'X-Gitlab-Token': secret }
    const github = { 'X-Hub-Signature-256': hub(body) }
    expect(await send({ ...github, ...gitlab, ...signAgain(wrong) })).toEqual(refused)
    expect(await send({ ...gitlab, 'X-Hub-Signature-256': hub('') })).toEqual(refused)
  })

  it('when a header is sent twice', async () => {
    const http = await startHttp()
    const headers = { 'X-Gitlab-Token': [secret, secret] }
    const sent = request(`${http.url}/webhook`, { method: 'POST', headers }).end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    answer.resume()
    expect([answer.statusCode, http.calls]).toEqual([401, []])
  })

  it('when the key is empty', async () => {
    const empty = `v1,${createHmac('sha256', '')
      .update(`msg_1.${Math.floor(now / 1000)}.${body}`)
      .digest('base64')}`
    expect(await send(signAgain(empty), { webhookSecret: 'whsec_' })).toEqual(refused)
  })

  it('when there is no secret, with any header', async () => {
    const unsigned: Record<string, string>[] = [
      {},
      { 'X-Gitlab-Token': '' },
      { 'X-Hub-Signature-256': hub(body, '') },
    ]
    for (const webhookSecret of ['', undefined])
      for (const headers of unsigned) {
        const http = await startHttp({}, { webhookSecret })
        const answer = await post(http, headers)
        expect([answer.status, http.calls]).toEqual([404, []])
        expect(await answer.text()).toContain('EDGEWISE_WEBHOOK_SECRET is not set')
      }
  })

  it('without a word of the secret', async () => {
    const http = await startHttp()
    const answer = await post(http, { 'X-Gitlab-Token': 'another' })
    expect(await answer.text()).not.toContain(secret)
    expect(http.log.join('')).not.toContain(secret)
  })
})
