// @module-tag often
// @module-tag nightly

import { expect, it } from 'vitest'
import {
  commit,
  configure,
  enterServed,
  listSent,
  name,
  setServeStage,
  start,
  until,
} from '../server/serve-stage.ts'
import { fetchConfig, token } from '../steps/cli.ts'
import { emulator, place, setStage } from '../steps/stage.ts'

setStage({ extended: true })
setServeStage()

async function changeAtService(domain: string): Promise<void> {
  const changed = { domains: domain, config: { timeout: { time: '99' } }, token }
  const answer = await fetch(`${emulator.url}/v2/domain/config`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(changed),
  })
  expect(answer.status).toBe(200)
}

it('what was changed at the service is read back and repaired', async () => {
  enterServed('serve: {drift: {schedule: "* * * * *", repair: true}}\n')
  const settings = place.read('edgewise.yaml')
  place.write('edgewise.yaml', settings.replace('service:\n', 'service:\n  readBack: true\n'))
  configure(3, 60)
  commit()
  const replica = await start()
  await until(async () => (await listSent()).length === 1)
  await changeAtService(name(1))
  await until(async () => {
    const { timeout } = (await fetchConfig(emulator, name(1))) as { timeout: { time: string } }
    return timeout.time === '60'
  })
  const [found] = replica.log.filter(({ message }) => message === 'drift checked')
  expect(found).toMatchObject({ live: 1, verified: 3 })
  // Only the domain that differs is written.
  expect((await listSent()).at(-1)).toBe(1)
})

it('what was changed at the service is on the pages of domains', async () => {
  enterServed('serve: {drift: {schedule: "* * * * *"}}\n')
  const settings = place.read('edgewise.yaml')
  place.write('edgewise.yaml', settings.replace('service:\n', 'service:\n  readBack: true\n'))
  configure(3, 60)
  commit()
  const replica = await start()
  await until(async () => (await listSent()).length === 1)
  await changeAtService(name(1))
  const read = async (path: string) => (await replica.get(path)).text()
  const sentence = '2 of 3 domains as recorded; 1 drifted.'
  await until(async () => (await read('/domains')).includes(`<h1 data-sentence>${sentence}</h1>`))
  expect(await read('/domains')).toContain('as the check of ')
  const page = await read(`/domains/${name(1)}`)
  expect(page).toContain('<dt>Drift check</dt>')
  expect(page).toMatch(/at the service since [\d:TZ-]+ or before: it has this value.*99/s)
  expect(await read(`/domains/${name(0)}`)).toContain('as recorded, confirmed ')
  // The emulator counts requests of each domain.
  expect(page).toMatch(/<h3>Last day<\/h3><p>[\d,]+ requests: 2xx /)
  expect(await read('/')).toContain(`<a href="/domains">${sentence}</a>`)
})
