// @module-tag often
// @module-tag nightly
import { expect, it } from 'vitest'
import { Place } from '../steps/cli.ts'

it('10,000 domains of 300 kinds are loaded, planned and proven', async () => {
  const place = new Place('http://127.0.0.1:9')
  place.write(
    'profiles/base.yaml',
    'profile: base\nconfig:\n  https: {cert_id: 1001, http2: on}\n  timeout: {time: 60}\n' +
      '  compress_response: {content_type: [text/html], min_size: 1, min_size_unit: KB}\n',
  )
  for (let i = 0; i < 10_000; i++) {
    const kind = i % 300
    const config = {
      origin: { default_master: `192.0.2.${kind % 200}` },
      origin_host: { host: `o${kind}.example.net` },
      deny_url: { urls: [`/${kind % 11}`] },
    }
    place.write(
      `domains/d${i}.yaml`,
      JSON.stringify({ domain: `d${i}.example.com`, profiles: ['base'], config }),
    )
  }
  const started = performance.now()
  const plan = await place.json('plan')
  console.log(`10,000 domains planned in ${((performance.now() - started) / 1000).toFixed(1)} s`)
  expect(plan['summary']).toMatchObject({ domains: 10_000, set: 60_000 })
  place.remove()
})
