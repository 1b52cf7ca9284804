// @module-tag often

import { expect, it } from 'vitest'
import { goodOrigin, leaveUnfinished } from '../stories/unfinished-rollback.ts'
import { commit, enterServed, setServeStage, start, until } from '../server/serve-stage.ts'
import { fetchConfig } from '../steps/cli.ts'
import { emulator, place, setStageInTime, time } from '../steps/stage.ts'

setStageInTime()
setServeStage()

it('a rollback that its process left unfinished is finished by the controller', async () => {
  const health = '{onFailure: rollback, grain: hour, window: 1h}'
  enterServed(`rollout: {waves: [4, 100%], pause: 1m, health: ${health}}\n`)
  commit()
  const id = await leaveUnfinished(place, emulator, time)
  expect(place.env['DATABASE_URL']).toBeDefined()
  commit()
  const replica = await start()
  await until(async () => {
    const { applied } = (await (await replica.get('/api/status')).json()) as {
      applied: { status: string } | null
    }
    return applied?.status === 'done'
  })
  for (let i = 0; i < 8; i++)
    expect(await fetchConfig(emulator, `d${i}.example.com`)).toMatchObject({
      origin: { default_master: goodOrigin },
    })
  expect(replica.err).toContain('-rollback"')
  expect((await place.json('rollout', 'list'))['rollouts']).toEqual([])
  expect(id).not.toBe('')
})
