// @module-tag often

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

it('what was changed at the service is read back and repaired', async () => {
  enterServed('serve: {drift: {schedule: "* * * * *", repair: true}}\n')
  const settings = place.read('edgewise.yaml')
  place.write('edgewise.yaml', settings.replace('service:\n', 'service:\n  readBack: true\n'))
  configure(3, 60)
  commit()
  const replica = await start()
  await until(async () => (await listSent()).length === 1)
  const changed = { domains: name(1), config: { timeout: { time: '99' } }, token }
  const answer = await fetch(`${emulator.url}/v2/domain/config`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(changed),
  })
  expect(answer.status).toBe(200)
  await until(async () => {
    const { timeout } = (await fetchConfig(emulator, name(1))) as { timeout: { time: string } }
    return timeout.time === '60'
  })
  const [found] = replica.log.filter(({ message }) => message === 'drift')
  expect(found).toMatchObject({ live: 1, verified: 3 })
  // Only the domain that differs is written.
  expect((await listSent()).at(-1)).toBe(1)
})
