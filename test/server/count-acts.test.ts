import { beforeEach, expect } from 'vitest'
import { identify, unidentified } from '../../src/core/model/people/identity.ts'
import { loadWorkspace } from '../../src/operations/runtime/load-workspace.ts'
import { createNodeOutside } from '../../src/operations/runtime/node-outside.ts'
import { createServerMetrics } from '../../src/outlets/metrics/server-metrics.ts'
import { createActCounter } from '../../src/server/leader/count-acts.ts'
import { Place } from '../steps/cli.ts'
import { emulator, enterPlace, place, setStageInTime } from '../steps/stage.ts'
import { itLong } from '../runs.ts'

setStageInTime()
beforeEach(() => {
  const roles = 'roles: [{role: approver, users: ["ci:job"]}]\n'
  enterPlace(new Place(emulator.url, `rollout: {waves: [1, 100%], approval: [2]}\n${roles}`))
  place.identifyToken = async (_auth, token) => identify('ci', token) ?? unidentified
})

itLong('counts what other processes do, and logs refused commands as other attempts', async () => {
  const apply = async (seconds: number) => {
    for (const name of ['a', 'b'])
      place.manifest(`${name}.example.com`, { timeout: { time: seconds } })
    expect((await place.cli('apply', '--yes')).code).toBe(0)
  }
  const outside = { ...createNodeOutside(new AbortController().signal), env: place.env }
  const metrics = createServerMetrics({ workspace: 'w', account: 'a' })
  const log: unknown[] = []
  const keep = (text: string, fields: unknown) => void log.push([text, fields])
  const count = createActCounter(outside, metrics, { warn: keep, debug: keep })
  const settings = loadWorkspace(place.root, outside, 'none')
  const read = async () =>
    [...(await metrics.format('prometheus')).text.matchAll(/^edgewise_(?:acts|denied).*$/gm)]
      .map(([line]) => line.replace(/workspace="w",account="a"/, ''))
      .toSorted()
  await apply(60)
  await count(settings)
  expect(await read()).toEqual([])
  const id = place.loadRollouts()[0]?.id ?? ''
  place.env = { ...place.env, EDGEWISE_ID_TOKEN: 'job' }
  expect((await place.cli('rollout', 'abort', id)).code).toBe(1)
  expect((await place.cli('rollout', 'approve', id)).code).toBe(0)
  expect((await place.cli('apply', '--yes')).code).toBe(0)
  await count(settings)
  await count(settings)
  expect(await read()).toEqual([
    'edgewise_acts_total{kind="apply",known_by="ci",} 1',
    'edgewise_acts_total{kind="approval",known_by="ci",} 1',
    'edgewise_acts_total{kind="refusal",known_by="ci",} 1',
    'edgewise_denied_total{action="abort",known_by="ci",} 1',
  ])
  const reason = 'the CI job job may not abort: that needs the role operator.'
  expect(log).toEqual([
    ['action refused', { action: 'abort', by: 'ci:job', knownBy: 'ci', rollout: id, reason }],
  ])
})
