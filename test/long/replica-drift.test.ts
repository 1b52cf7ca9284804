// @module-tag often
// @module-tag nightly

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
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
import { place, setStage } from '../steps/stage.ts'

setStage()
setServeStage()

it('drift is repaired by its schedule, and reported once, as is its end', async () => {
  const received: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      received.push((JSON.parse(body) as { title: string }).title)
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  enterServed(
    [
      `notify: [{kind: webhook, url: "${url}", on: [applied, drift]}]`,
      'serve: {drift: {schedule: "* * * * *", observed: live.json, repair: true}}',
      '',
    ].join('\n'),
  )
  configure(1, 60)
  place.write('live.json', JSON.stringify({ [name(0)]: { timeout: { time: 99 } } }))
  commit()
  const replica = await start()
  await until(async () => (await listSent()).length >= 2)
  place.write('live.json', JSON.stringify({ [name(0)]: { timeout: { time: 60 } } }))
  commit()
  await until(async () => received.some((title) => title.startsWith('Drift is gone')))
  expect(received.filter((title) => title.startsWith('Drift: '))).toHaveLength(1)
  expect(received[0]).toContain('Applied')
  expect(replica.err).not.toContain('/hook')
  const page = await (await replica.get('/drift')).text()
  expect(page).toMatch(
    /aria-current="page">Drift[\s\S]*<h1 data-sentence>No differences were found/,
  )
  server.close()
})
