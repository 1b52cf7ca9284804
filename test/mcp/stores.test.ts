// @module-tag often
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { GitSandbox } from '../state/git-sandbox.ts'
import { TestSchema } from '../state/test-schema.ts'
import type { JsonObject } from '../../src/core/model/json.ts'
import { Place, token } from '../steps/cli.ts'
import { emulator, enterPlace, place, setStage } from '../steps/stage.ts'
import { connectAgent } from './agent.ts'

setStage()

const www = 'www.example.com'

/** Calls each tool that uses state or the service. */
async function callAll(own: Place): Promise<void> {
  const agent = await connectAgent(own)
  const calls: [name: string, args: JsonObject][] = [
    ['plan', {}],
    ['show', { domain: www }],
    ['drift', {}],
    ['history', {}],
    ['history', { domain: www }],
    ['stats', {}],
    ['trace', { requests: [`https://${www}/`], of: 'recorded' }],
    ['propose', { edits: [{ domain: www, item: 'timeout', value: { time: 62 } }] }],
  ]
  for (const [name, args] of calls) {
    const { isError, data, texts } = await agent.call(name, args)
    expect([name, isError, texts]).toEqual([name, false, texts])
    if (name === 'propose') expect(data).toMatchObject({ plan: { summary: { change: 1 } } })
  }
  expect(agent.defects).toEqual([])
  await agent.close()
}

it('state in git stays as it is, here and on the remote', async () => {
  const sandbox = new GitSandbox()
  try {
    await sandbox.withRemote()
    const root = join(sandbox.folder, 'clone')
    const own = new Place(emulator.url, '', { root, state: '' })
    own.env = { ...own.env, ...sandbox.env }
    own.manifest(www, { timeout: { time: 60 } })
    await own.settle()
    own.manifest(www, { timeout: { time: 61 } })
    const look = async () => [
      await sandbox.git('remote.git', 'for-each-ref'),
      await sandbox.git('clone', 'for-each-ref'),
      await sandbox.git('clone', 'status', '--porcelain', '--untracked-files=all'),
    ]
    const before = await look()
    await callAll(own)
    expect(await look()).toEqual(before)
  } finally {
    sandbox.remove()
  }
})

it('state in a database stays as it is', async () => {
  const schema = await TestSchema.make()
  try {
    const state = `state: {store: postgres, url: "\${env:DATABASE_URL}", schema: ${schema.name}}`
    const own = enterPlace(new Place(emulator.url, '', { state }))
    const { url } = schema.configure((address) => address.searchParams.delete('application_name'))
    own.env = { EDGEWISE_TOKEN: token, DATABASE_URL: url }
    own.manifest(www, { timeout: { time: 60 } })
    await own.settle()
    own.manifest(www, { timeout: { time: 61 } })
    const look = () => schema.query(`select * from "${schema.name}".files order by path`)
    const before = await look()
    await callAll(own)
    expect(await look()).toEqual(before)
  } finally {
    await schema.remove()
  }
})

it('the emulator inside the process keeps its file', async () => {
  const own = enterPlace(new Place('emulator'))
  own.manifest(www, { timeout: { time: 60 } })
  await own.settle()
  own.manifest(www, { timeout: { time: 61 } })
  const look = () => readFileSync(join(place.root, '.edgewise/emulator.json'), 'utf8')
  const before = look()
  await callAll(own)
  expect(look()).toBe(before)
})
