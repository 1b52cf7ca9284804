// @module-tag often
// @module-tag nightly
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { remoteLimits } from '../../src/state/git/remote-calls.ts'
import { connect, type Remote, type Transport } from '../remotes.ts'
import { recordTogether } from '../state/store-contract.ts'
import { branch, Two } from '../state/two-clones.ts'
import { fetchConfig, Place, type CommandResult } from '../steps/cli.ts'
import { emulator, setStageInTime, time } from '../steps/stage.ts'
import { shareLater } from '../stories/lost-outcomes.ts'
import { refuseOwned } from '../stories/owned-elsewhere.ts'
import { pruneBehindClone } from '../stories/prune.ts'
import { refusals, refuseToken } from '../stories/refused-token.ts'
import { rotateSecret, secretSources } from '../stories/secrets-through-ci.ts'
import { buildTimeout, restoreSetBack } from '../stories/set-back.ts'
import { leaveUnfinished, refuseUntilRolledBack } from '../stories/unfinished-rollback.ts'
import { expectHidden } from './hidden-logins.ts'

const ref = `refs/heads/${branch}`
const www = 'www.example.com'

setStageInTime()

describe.each<Transport>(['http', 'ssh'])('over %s', (transport) => {
  let two: Two
  let remote: Remote
  let output: string
  /** Files of the user that have the password. */
  let ownFiles: string[]
  beforeEach(async () => {
    output = ''
    ownFiles = ['user']
    two = await Two.make()
    remote = await connect(two.sandbox, transport)
  })
  afterEach(async () => {
    await remote.close()
    await expectHidden(two.sandbox, remote, output, ownFiles)
    two.sandbox.remove()
  })

  /** Workspace in a clone, which collects what its commands print. */
  class Clone extends Place {
    constructor(folder: string, more = '', url = emulator.url) {
      super(url, more, { root: join(two.sandbox.folder, folder), state: 'state: {store: git}' })
      this.env = { ...this.env, ...two.sandbox.env }
      this.time = time
    }

    override async cli(...args: string[]): Promise<CommandResult> {
      const ran = await super.cli(...args)
      output += ran.out + ran.err
      return ran
    }
  }

  describe('state that was set back', () => {
    let first: string
    beforeEach(async () => {
      const store = await two.open('clone')
      await store.save(buildTimeout('1'), 'save 1')
      first = await two.sandbox.git('clone', 'rev-parse', branch)
      await store.save(buildTimeout('2'), 'save 2')
    })

    it('by a force-push is refused, and restored', async () => {
      await two.sandbox.git('other', 'fetch', '--quiet', 'origin', ref)
      await two.sandbox.git('other', 'push', '--quiet', '--force', 'origin', `${first}:${ref}`)
      await restoreSetBack(two, '2')
    })

    it('by the deletion of its branch is refused, and restored', async () => {
      await two.sandbox.git('other', 'push', '--quiet', 'origin', `:${ref}`)
      await restoreSetBack(two, '2')
    })
  })

  it('a rollback that is cut off stops every apply until it is finished', async () => {
    const rollout = 'rollout: {waves: [4, 100%], pause: 1m, health: {onFailure: rollback}}\n'
    const place = new Clone('clone', rollout)
    const id = await leaveUnfinished(place, emulator, time)
    await refuseUntilRolledBack(place, emulator, id, [['apply', '--yes']])
  })

  it.each([
    ['a call that hangs is given up in time', null],
    ['a call that hangs is given up after Ctrl-C', new AbortController()],
  ])('%s', async (_what, interrupt) => {
    const limits = { ...remoteLimits, [interrupt === null ? 'silenceMs' : 'interruptedMs']: 200 }
    const signal = (interrupt ?? new AbortController()).signal
    const git = await two.sandbox.open('clone', {}, { limits, signal })
    remote.behaviour = 'hang'
    remote.onCall = () => interrupt?.abort()
    await expect(git.fetch(ref)).rejects.toMatchObject({
      code: 'record-unreachable',
      message: expect.stringMatching(
        interrupt === null ? /"git ls-remote" was given up$/ : /given up after the interrupt$/,
      ) as string,
    })
    await expect(git.push(ref, null, 'x')).rejects.toThrow('given up')
  })

  it('outcomes that the remote does not accept are in-doubt until they are shared', async () => {
    await shareLater(
      [new Clone('clone'), new Clone('other')],
      () => void (remote.behaviour = transport === 'http' ? 'refuse-login' : 'refuse-pushes'),
      /the state on the remote origin can't be reached or written: /,
      () => void (remote.behaviour = 'serve'),
    )
  })

  it('pushes without an answer are found on the remote', async () => {
    remote.behaviour = 'lose-answers'
    await new Clone('clone').manifest(www, { timeout: { time: 10 } }).settle()
    expect(await fetchConfig(emulator, www)).toEqual({ timeout: { time: '10' } })
  })

  // The way to the remote makes no difference for the last two.
  it.each(transport === 'http' ? refusals : refusals.slice(0, 1))(
    '%i of the service ends the apply, nothing is in-doubt',
    (...refusal) => refuseToken((url) => new Clone('clone', '', url), refusal),
  )

  it('a domain of another workspace is refused', async () => {
    const [place, other] = [new Clone('clone'), new Clone('other', 'id: staging\n')]
    other.manifest(www, { timeout: { time: 99 } })
    await place.manifest(www, { timeout: { time: 60 } }).settle()
    await refuseOwned(place, other, emulator, [['plan'], ['apply', '--yes']])
  })

  it('a domain is recorded by at most one of two workspaces that push together', async () => {
    const stores = [await two.open('clone', 'mine'), await two.open('other', 'theirs')] as const
    await recordTogether(buildTimeout('1'), stores, (id) => two.open('clone', id))
  })

  it('a plan without secrets is applied in another clone, with a rotated secret', async () => {
    const [planner, applier] = [
      new Clone('other', secretSources),
      new Clone('clone', secretSources),
    ]
    applier.env['SIGNING'] = 'first-signing-key'
    await rotateSecret(planner, applier, emulator)
  })

  it('pruned applies are an ordinary commit for another clone', () => pruneBehindClone(two))

  it.each(transport === 'http' ? ['address', 'header'] : [])(
    'a password in the %s of the clone is not repeated anywhere',
    async (place) => {
      const [password = '', login = ''] = remote.secrets
      const header = `http.http://${remote.address}/.extraHeader`
      writeFileSync(join(two.sandbox.folder, 'user/gitconfig'), '')
      const url = `http://runner:${password}@${remote.address}/remote.git`
      if (place === 'address') await two.sandbox.git('clone', 'remote', 'set-url', 'origin', url)
      else await two.sandbox.git('clone', 'config', header, `Authorization: Basic ${login}`)
      const clone = new Clone('clone').manifest(www, { timeout: { time: 10 } })
      await clone.settle()
      remote.behaviour = 'refuse-login'
      expect((await clone.cli('plan')).err).toContain('valid user name and password')
      ownFiles.push('clone/.git/config')
    },
  )

  describe('a plan', () => {
    const createClone = () => new Clone('clone').manifest(www, { timeout: { time: 10 } })
    const explain = async (clone: Place) => {
      const { code, err } = await clone.cli('plan')
      expect(code).toBe(1)
      return err.replace(/\s+/g, ' ')
    }
    const change = (path: string, edit: (text: string) => string) => {
      const file = join(two.sandbox.folder, path)
      writeFileSync(file, edit(readFileSync(file, 'utf8')))
    }

    it('explains a refused login', async () => {
      remote.behaviour = 'refuse-login'
      const advice = { http: 'credential.helper', ssh: 'an ssh key that the server accepts' }
      expect(await explain(createClone())).toContain(advice[transport])
    })

    it('explains a wrong password, or an unknown and a changed host key', async () => {
      const clone = createClone()
      if (transport === 'http') {
        change('user/login', (text) => text.replace(/password=.*/, 'password=wrong'))
        expect(await explain(clone)).toMatch(
          /Authentication failed .* valid user name and password/,
        )
        return
      }
      const known = readFileSync(join(two.sandbox.folder, 'user/known_hosts'), 'utf8')
      change('user/known_hosts', () => '')
      expect(await explain(clone)).toMatch(/host key is known .* "ssh HOST" in a terminal/)
      const [, key = ''] = readFileSync(join(two.sandbox.folder, 'user/key.pub'), 'utf8').split(' ')
      change('user/known_hosts', () => known.replace(/\S+\s*$/, `${key}\n`))
      expect(await explain(clone)).toMatch(/IDENTIFICATION HAS CHANGED.*"ssh-keygen -R HOST"/)
    })

    it('explains a host that is unreachable', async () => {
      await remote.close()
      expect(await explain(createClone())).toContain('"git remote get-url origin"')
    })
  })
})
