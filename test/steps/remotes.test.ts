// @module-tag often
import { afterEach, beforeEach, expect, it } from 'vitest'
import { connect, type Remote } from '../remotes.ts'
import { GitSandbox } from '../state/git-sandbox.ts'
import { Place } from './cli.ts'
import { emulator, setStage } from './stage.ts'

let sandbox: GitSandbox
let remote: Remote | null

setStage()
beforeEach(() => {
  sandbox = new GitSandbox()
  remote = null
})
afterEach(async () => {
  await remote?.close()
  sandbox.remove()
})

it.each(['http', 'ssh'] as const)('state is kept on a remote over %s', async (transport) => {
  const root = await sandbox.withRemote()
  remote = await connect(sandbox, transport)
  const place = new Place(emulator.url, '', { root, state: 'state: {store: git}' })
  place.env = { ...place.env, ...sandbox.env }
  place.manifest('a.example.com', { timeout: { time: 10 } })
  const { code, out, err } = await place.cli('plan', '--detailed-exitcode')
  expect([code, out]).toEqual([2, expect.stringContaining('1 write')])
  await place.settle()
  expect(await sandbox.git('remote.git', 'log', '--format=%s', 'edgewise-state')).toContain('Apply')
  for (const secret of remote.secrets) expect(`${out}${err}`).not.toContain(secret)
})
