import { expect, it } from 'vitest'
import { openPeople } from '../../src/server/people/people.ts'

const ports = { clock: { now: () => 0, monotonic: () => 0 }, env: {}, onFault: () => undefined }

async function identify(remoteAddress: string | undefined, headers: Record<string, string[]>) {
  const proxy = { from: ['10.0.0.0/24', 'fd00::/64'], user: 'X-Forwarded-User', groups: 'X-Groups' }
  const people = await openPeople({ provider: null, proxy, ci: [], variables: [] }, ports)
  type Incoming = Parameters<typeof people.identifyByProxy>[0]
  const incoming = { socket: { remoteAddress }, headersDistinct: headers } as unknown as Incoming
  return people.identifyByProxy(incoming)
}
const user = { 'x-forwarded-user': ['Ada@Example.com'] }

it('a proxy of the listed networks names the user and the groups', async () => {
  const name = 'ada@example.com'
  const ada = { name, knownBy: 'proxy', sub: name, email: name }
  const groups = { ...user, 'x-groups': ['ops, shop ,,video'] }
  for (const peer of ['10.0.0.7', '::ffff:10.0.0.7', 'fd00::1', 'fd00::1%eth0'])
    expect(await identify(peer, groups)).toEqual({ ...ada, groups: ['ops', 'shop', 'video'] })
  expect(await identify('10.0.0.7', user)).toEqual({ ...ada, groups: [] })
  const plain = await identify('10.0.0.7', { 'x-forwarded-user': ['ada'] })
  expect([plain?.name, plain?.email]).toEqual(['ada', null])
  const kelvin = await identify('10.0.0.7', { 'x-forwarded-user': ['mar\u212AUS@example.com'] })
  expect(kelvin?.email).toBe('mar\u212Aus@example.com')
})

it.each([undefined, '', '10.0.1.7', '127.0.0.1', '::1', '::ffff:10.0.1.7', 'fd01::1', 'x'])(
  'headers of %s are not believed',
  async (peer) => {
    const forwarded = { 'x-forwarded-for': ['10.0.0.7'], 'x-real-ip': ['10.0.0.7'] }
    expect(await identify(peer, { ...user, ...forwarded })).toBeNull()
  },
)

it('a header that is there twice, empty, or the name of a machine names nobody', async () => {
  for (const values of [['ada', 'eve'], [''], ['token'], ['ci:job'], ['a\u0000b'], []])
    expect(await identify('10.0.0.7', { 'x-forwarded-user': values })).toBeNull()
  const twice = await identify('10.0.0.7', { ...user, 'x-groups': ['ops', 'admins'] })
  expect(twice?.groups).toEqual([])
})
