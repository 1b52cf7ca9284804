import { describe, expect, it } from 'vitest'
import { classifyFailure } from '../../src/service/call-failure.ts'

const coded = (code: string, message = code) => Object.assign(new Error(message), { code })
/** Builds an error as thrown by `fetch`. */
const fetchFailed = (cause: unknown) => new TypeError('fetch failed', { cause })

const neverLeft = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]
const certificates = [
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]
const moreTls = [
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'CERT_REVOKED',
  'CERT_SIGNATURE_FAILURE',
  'HOSTNAME_MISMATCH',
  'INVALID_CA',
]
const doubtful = [
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_SOCKET',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'HPE_INVALID_CONSTANT',
]

describe.each([
  ['as fetch throws it', (code: string) => fetchFailed(coded(code))],
  ['as nock throws it', (code: string) => coded(code)],
  ['two causes down', (code: string) => fetchFailed(new Error('outer', { cause: coded(code) }))],
])('a failure %s', (_shape, failure) => {
  it.each([...neverLeft, ...certificates, ...moreTls])(
    '%s never left: nothing is in-doubt',
    (code) => expect(classifyFailure(failure(code))).toMatchObject({ kind: 'not sent' }),
  )
  it.each(doubtful)('%s may have been saved: in-doubt', (code) =>
    expect(classifyFailure(failure(code))).toMatchObject({ kind: 'in-doubt' }),
  )
})

describe('a failure', () => {
  it('of a host with several addresses never left only if none of them was reached', () => {
    const all = new AggregateError([coded('ECONNREFUSED'), coded('ENETUNREACH')])
    expect(classifyFailure(fetchFailed(all))).toMatchObject({ kind: 'not sent' })
    const some = new AggregateError([coded('ECONNREFUSED'), coded('ECONNRESET')])
    expect(classifyFailure(fetchFailed(some))).toMatchObject({ kind: 'in-doubt' })
  })

  it('by time-out or abort is in-doubt', () => {
    expect(classifyFailure(new DOMException('timed out', 'TimeoutError')).kind).toBe('in-doubt')
    expect(classifyFailure(new DOMException('aborted', 'AbortError')).kind).toBe('in-doubt')
  })

  it('of unknown cause is in-doubt', () => {
    for (const error of [
      new TypeError('terminated'),
      fetchFailed(undefined),
      fetchFailed('text'),
      'text',
      null,
      undefined,
      new AggregateError([]),
    ]) {
      expect(classifyFailure(error)).toMatchObject({ kind: 'in-doubt' })
    }
  })

  it('is described in a sentence, without the text of the error', () => {
    const outcome = classifyFailure(
      fetchFailed(coded('ECONNREFUSED', 'connect ECONNREFUSED to https://host/?token=abc')),
    )
    expect(outcome).toEqual({ kind: 'not sent', message: 'the connection was refused' })
    expect(JSON.stringify(classifyFailure(fetchFailed(coded('EODD', 'token=abc'))))).not.toContain(
      'abc',
    )
  })
})
