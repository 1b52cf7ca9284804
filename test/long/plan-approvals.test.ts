// @module-tag often
// @module-tag nightly

import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import { expect, it, onTestFinished } from 'vitest'
import { checkApproval, digestPlan } from '../../src/operations/people/plan-approval.ts'
import { createKey } from '../people/provider-stage.ts'
import { commit, configure, enterServed, setServeStage, start } from '../server/serve-stage.ts'
import { place, setStage } from '../steps/stage.ts'

setStage()
setServeStage()

/** Starts an issuer of tokens, and returns what signs one for a subject. */
async function startIssuer() {
  const { key, jwk } = await createKey('k1')
  const { kty, n, e, kid, alg, use } = jwk
  const server = createServer((incoming, outgoing) => {
    outgoing.setHeader('content-type', 'application/json')
    const isDocument = (incoming.url ?? '').includes('openid-configuration')
    const document = { issuer, jwks_uri: `${issuer}/k`, response_types_supported: ['id_token'] }
    outgoing.end(JSON.stringify(isDocument ? document : { keys: [{ kty, n, e, kid, alg, use }] }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const sign = (subject: string) =>
    new SignJWT({ team: 'cdn', iss: issuer, aud: 'edgewise', sub: subject })
      .setProtectedHeader({ alg: 'RS256', kid: 'k1' })
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(key)
  return { issuer, sign }
}

it('the program approves a saved plan of an approver, and records it', async () => {
  const { issuer, sign } = await startIssuer()
  const ci = [{ issuer, audience: 'edgewise', claims: { team: 'cdn' } }]
  // What has to be approved is not sent by the server itself.
  enterServed(`rollout: {approval: [1]}\nserve: ${JSON.stringify({ auth: { ci } })}\n`)
  const file = join(place.root, 'edgewise.yaml')
  const roles = [
    { role: 'approver', users: ['ci:ada'] },
    { role: 'approver', users: ['ci:eve'], domains: ['d0.example.com'] },
  ]
  writeFileSync(file, `${readFileSync(file, 'utf8')}roles: ${JSON.stringify(roles)}\n`)
  commit()
  configure(2, 60)
  commit()
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  place.env['EDGEWISE_SERVE_APPROVAL_KEY'] = privateKey
    .export({ type: 'pkcs8', format: 'pem' })
    .toString()
  const replica = await start()
  delete place.env['EDGEWISE_SERVE_APPROVAL_KEY']
  expect((await place.cli('plan', '--out', 'plan.json')).code).toBe(0)
  const approve = async (user: string) => {
    place.env['EDGEWISE_ID_TOKEN'] = await sign(user)
    return place.cli('plan', 'approve', 'plan.json', '--yes', '--server', replica.url)
  }
  const refused = await approve('eve')
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('d1.example.com')])
  expect((await replica.waitFor('refused the CI job')).level).toBe('warn')
  const approved = await approve('ada')
  expect([approved.code, approved.err]).toEqual([0, ''])
  const text = place.read('plan.json.approved')
  const digest = digestPlan(place.read('plan.json'))
  expect(checkApproval(text, digest, [publicKey], Date.now())).toBe('ci:ada')
  const body = place.read('plan.json')
  const byToken = await replica.get('/api/plans/approvals', { method: 'POST', body })
  expect([byToken.status, await byToken.text()]).toEqual([403, expect.stringContaining('name')])
  delete place.env['EDGEWISE_ID_TOKEN']
  const verified = await place.cli('state', 'verify')
  expect(verified.code, verified.out + verified.err).toBe(0)
  expect(replica.err).not.toContain('PRIVATE KEY')
})
