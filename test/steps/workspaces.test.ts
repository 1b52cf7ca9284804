import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { fetchConfig, Place, startService } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'
import { itLong } from '../runs.ts'

const www = 'www.example.com'
setStage()

describe('separate workspaces', () => {
  itLong('with two ids in one folder plan, record and forget their own domains', async () => {
    const other = new Place(emulator.url, 'id: staging\n')
    try {
      await place.manifest(www, { timeout: { time: 60 } }).settle()
      cpSync(join(place.root, '.edgewise'), join(other.root, '.edgewise'), { recursive: true })
      const theirs = 'theirs.example.com'
      const first = await other.manifest(theirs, { timeout: { time: 60 } }).cli('plan')
      expect(first.err).toContain('Nothing is recorded yet for "staging"')
      await other.settle()
      await other.manifest(theirs, {}).settle()
      expect((await other.json('state', 'list'))['domains']).toEqual([])
      cpSync(join(other.root, '.edgewise'), join(place.root, '.edgewise'), { recursive: true })
      expect(await place.json('plan')).toMatchObject({ changes: [], summary: { unchanged: 1 } })
    } finally {
      other.remove()
    }
  })

  itLong('with two addresses in one folder keep separate states', async () => {
    const elsewhere = await startService()
    const home = join(place.root, 'edgewise.yaml')
    const text = readFileSync(home, 'utf8')
    try {
      await place.manifest(www, { timeout: { time: 60 } }).settle()
      place.write('edgewise.yaml', text.replace(emulator.url, elsewhere.url))
      expect(await place.json('plan')).toMatchObject({ summary: { set: 1 } })
      await place.manifest(www, { timeout: { time: 99 } }).settle()
      expect(await fetchConfig(elsewhere, www)).toEqual({ timeout: { time: '99' } })
      place.write('edgewise.yaml', text)
      expect(await fetchConfig(emulator, www)).toEqual({ timeout: { time: '60' } })
      expect(await place.json('plan')).toMatchObject({
        changes: [{ before: { time: '60' }, after: { time: '99' } }],
      })
    } finally {
      await elsewhere.close()
    }
  })
})

describe('another spelling of the address', () => {
  itLong('is the same service: state, lock and owner; shown and stored as written', async () => {
    const home = join(place.root, 'edgewise.yaml')
    const text = readFileSync(home, 'utf8')
    await place.manifest(www, { timeout: { time: 60 } }).settle()
    const spelling = `HTTP://\${env:HOST}:${new URL(emulator.url).port}/x/../`
    place.write('edgewise.yaml', text.replace(emulator.url, spelling))
    place.env['HOST'] = '0x7f.1'
    expect(await place.json('plan')).toMatchObject({ changes: [], summary: { unchanged: 1 } })
    await place.manifest(www, { timeout: { time: 61 } }).settle()
    const folder = join(place.root, '.edgewise/state/default/addresses')
    const [stored, ...others] = readdirSync(folder)
    expect(others).toEqual([])
    expect(JSON.parse(readFileSync(join(folder, stored ?? ''), 'utf8'))).toEqual({
      id: 'default',
      address: spelling,
    })
    place.write('edgewise.yaml', `${text.replace(emulator.url, spelling)}\nid: other`)
    const refused = await place.cli('plan')
    expect(refused.err).toContain(`${www} (domains/${www}.yaml) belongs to the workspace "default"`)
  })
})
