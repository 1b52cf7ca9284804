// @module-tag often
import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { RemoteContext, RemoteLimits } from '../../src/state/git/remote-calls.ts'
import { buildApplied, buildItem, buildTimeout, begin } from './store-contract.ts'
import { branch, Two } from './two-clones.ts'

const ref = `refs/heads/${branch}`
const never = 60_000
const limits: RemoteLimits = {
  silenceMs: never,
  totalMs: never,
  interruptedMs: never,
  reportMs: never,
}

/** Returns the state of a process as the system names it; `gone` if there is none. */
function findProcessState(pid: number): string {
  const listed = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout
  return listed.trim().slice(0, 1) || 'gone'
}

/** Two clones, one of which reaches its remote as a test says. */
class Hanging {
  readonly two: Two

  constructor(two: Two) {
    this.two = two
  }

  setUrl = (url: string) => this.two.sandbox.git('clone', 'remote', 'set-url', 'origin', url)
  path = (name: string) => join(this.two.sandbox.folder, name)
  /** Makes git reach the remote over an ssh that runs a script of this test. */
  useSsh = async (script: string) => {
    await this.setUrl('ssh://git:hunter2@git.example.com/x.git')
    const run = `#!/bin/sh\necho begun >> ${this.path('begun')}\n${script}\n`
    writeFileSync(this.path('ssh'), run, { mode: 0o755 })
  }
  /** An ssh that hangs in a process of its own. */
  hang = () => this.useSsh(`sleep 60 & echo $! > ${this.path('pid')}\nwait`)
  /** An ssh that reaches the remote after what the script does. */
  connect = (script: string) =>
    this.useSsh(`${script}\nfor last; do :; done; eval "\${last%% *} ${this.path('remote.git')}"`)
  open = (changed: Partial<RemoteLimits>, context: Partial<RemoteContext> = {}) =>
    this.two.sandbox.open(
      'clone',
      { GIT_SSH_COMMAND: this.path('ssh'), GIT_SSH_VARIANT: 'simple' },
      { limits: { ...limits, ...changed }, ...context },
    )
  countCalls = () =>
    existsSync(this.path('begun'))
      ? readFileSync(this.path('begun'), 'utf8').trim().split('\n').length
      : 0
}

const it = test.extend<{ hanging: Hanging }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest requires a pattern
  hanging: async ({}, use) => {
    const two = await Two.make()
    await use(new Hanging(two))
    two.sandbox.remove()
  },
})

// The tests wait most of the time, so they wait together.
describe.concurrent('a remote that hangs', () => {
  it('over http is given up with its address and the command, without the password', async ({
    hanging: { setUrl, open },
  }) => {
    const server = createServer((socket) => socket.on('error', () => undefined))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await setUrl(`http://user:hunter2@127.0.0.1:${port}/x.git`)
    const failure = await (await open({ silenceMs: 150 })).fetch(ref).catch((error: Error) => error)
    expect(failure).toMatchObject({
      code: 'record-unreachable',
      message: expect.stringContaining(`origin (http://127.0.0.1:${port}/x.git)`) as string,
    })
    expect(String(failure)).toContain('"git ls-remote" was given up')
    expect(String(failure)).not.toContain('hunter2')
    server.close()
  })

  it('over ssh is given up, and ssh is ended with all that it started', async ({
    hanging: { path, hang, open },
  }) => {
    await hang()
    await expect((await open({ silenceMs: 1000 })).fetch(ref)).rejects.toMatchObject({
      code: 'record-unreachable',
      message: expect.stringContaining('(ssh://git.example.com/x.git)') as string,
    })
    const pid = Number(readFileSync(path('pid'), 'utf8'))
    // A killed process is listed until its parent has noticed.
    await expect.poll(() => findProcessState(pid)).toMatch(/^(Z|gone)$/)
  })

  it('ends all calls together: after the time for all, none is started', async ({
    hanging: { hang, open, countCalls },
  }) => {
    await hang()
    const git = await open({ silenceMs: 800, totalMs: 800 })
    for (const call of [() => git.fetch(ref), () => git.push(ref, null, 'x'), () => git.fetch(ref)])
      await expect(call()).rejects.toMatchObject({ code: 'record-unreachable' })
    expect(countCalls()).toBe(1)
  })

  it('is tried again after an answer', async ({ hanging: { path, connect, open, countCalls } }) => {
    const flag = path('hang')
    await connect(`[ -e ${flag} ] && exec sleep 60`)
    const [patient, short] = [{ ...limits, totalMs: 20_000 }, 200]
    let passedMs = 0
    const timerNow = () => performance.now() + passedMs
    const git = await open({}, { timerNow, limits: patient })
    const hangOnce = async () => {
      writeFileSync(flag, '')
      patient.silenceMs = short
      await expect(git.fetch(ref)).rejects.toMatchObject({ code: 'record-unreachable' })
      patient.silenceMs = never
      rmSync(flag)
    }
    await hangOnce()
    expect(await git.fetch(ref)).toBe(null)
    passedMs += patient.totalMs
    const before = countCalls()
    expect(await git.fetch(ref)).toBe(null)
    expect(countCalls()).toBe(before + 1)
    await hangOnce()
    passedMs += patient.totalMs
    await expect(git.fetch(ref)).rejects.toThrow('given up')
  })

  it('for pushes only is given up in time, whatever else it answers', async ({
    hanging: { path, connect, open, countCalls },
  }) => {
    const flag = path('hang')
    const branches = `*receive-pack*) [ -e ${flag} ] && exec sleep 60`
    await connect(`case "$*" in ${branches};; esac`)
    let passedMs = 0
    const timerNow = () => performance.now() + passedMs
    const patient = { ...limits, totalMs: 20_000 }
    const git = await open({}, { timerNow, limits: patient })
    const commit = await git.commit(null, new Map([['file', 'text']]), 'first')
    const lock = 'refs/edgewise/lock/x'
    writeFileSync(flag, '')
    patient.silenceMs = 200
    await expect(git.push(ref, null, commit)).rejects.toThrow('"git push" was given up')
    rmSync(flag)
    patient.silenceMs = never
    // Neither a query nor a push of another ref shows that this push would end.
    expect(await git.fetch(ref)).toBe(null)
    expect(await git.push(lock, null, commit)).toBe(true)
    passedMs += patient.totalMs
    const before = countCalls()
    for (const call of [() => git.push(ref, null, commit), () => git.fetch(ref)])
      await expect(call()).rejects.toThrow('given up')
    expect(countCalls()).toBe(before)
  })

  it('is given up soon after an interrupt, and then not called again', async ({
    hanging: { hang, open, countCalls },
  }) => {
    await hang()
    const interrupt = new AbortController()
    const git = await open({ interruptedMs: 100 }, { signal: interrupt.signal })
    const fetched = git.fetch(ref)
    interrupt.abort()
    await expect(fetched).rejects.toThrow('was given up after the interrupt')
    const before = countCalls()
    await expect(git.push(ref, null, 'x')).rejects.toThrow('given up')
    expect(countCalls()).toBe(before)
  })

  it('is called after an interrupt as long as it answers', async ({
    hanging: { connect, open },
  }) => {
    await connect('')
    const interrupt = new AbortController()
    const git = await open({ interruptedMs: 30_000 }, { signal: interrupt.signal })
    interrupt.abort()
    expect(await git.fetch(ref)).toBe(null)
    const commit = await git.commit(null, new Map([['file', 'text']]), 'first')
    expect(await git.push(ref, null, commit)).toBe(true)
    expect(await git.fetch(ref)).toBe(commit)
  })

  it('is reported once, with address, command and end', async ({ hanging: { hang, open } }) => {
    await hang()
    const reported: string[] = []
    const note = (text: string) => void reported.push(text)
    const git = await open({ silenceMs: 300, totalMs: 600, reportMs: 50 }, { note })
    for (let times = 0; times < 2; times++) await expect(git.fetch(ref)).rejects.toThrow('given up')
    expect(reported).toEqual([
      expect.stringMatching(/; it is given up at \d\d:\d\d:\d\d unless it makes progress$/),
    ])
    expect(reported[0]).toContain(
      'waiting for the remote origin (ssh://git.example.com/x.git) to answer "git ls-remote"',
    )
  })

  it('is not given up as long as it shows progress', async ({ hanging: { connect, open } }) => {
    await connect('for i in 1 2 3 4 5 6; do sleep 0.2; echo progress >&2; done')
    expect(await (await open({ silenceMs: 1000, totalMs: 1100 })).fetch(ref)).toBe(null)
  })

  it('loses no recorded outcome, which a later process shares', async ({
    hanging: { two, path, connect, open },
  }) => {
    const flag = path('hang')
    await connect(`[ -e ${flag} ] && exec sleep 60`)
    const patient = { ...limits }
    const openPatient = () => open({}, { limits: patient })
    const store = await two.open('clone', 'default', (git) => git, openPatient)
    await begin(store, 'one', buildTimeout('a.example.com', '1'))
    const outcome = buildTimeout('a.example.com', '2', { apply: 'one' })
    await store.recordOutcomes(buildApplied('one'), [1], outcome)
    writeFileSync(flag, '')
    patient.silenceMs = 200
    await expect(store.share?.()).rejects.toMatchObject({
      code: 'record-unreachable',
      message: expect.stringContaining('"git push" was given up') as string,
    })
    rmSync(flag)
    const next = await two.open(
      'clone',
      'default',
      (git) => git,
      () => open({}),
    )
    await next.share?.()
    expect((await (await two.open('other')).load()).get('a.example.com')?.get('timeout')).toEqual(
      buildItem('2', { apply: 'one' }),
    )
  })

  it('also limits a partial clone that lacks files', async ({ hanging: { two, path } }) => {
    const store = await two.open('clone')
    await store.save(buildTimeout('a.example.com', '1'), 'first')
    await two.sandbox.git('remote.git', 'config', 'uploadpack.allowFilter', 'true')
    const url = `file://${two.sandbox.folder}/remote.git`
    await two.sandbox.git('.', 'clone', '--quiet', '--filter=blob:none', url, 'partial')
    const tip = await two.sandbox.git('remote.git', 'rev-parse', branch)
    const config = `[remote "origin"]\n\tuploadpack = "sleep 60; true"\n`
    appendFileSync(path('partial/.git/config'), config)
    const git = await two.sandbox.open('partial', {}, { limits: { ...limits, silenceMs: 300 } })
    await expect(git.loadFiles(tip, 'README.md')).rejects.toMatchObject({
      code: 'record-unreachable',
      message: expect.stringContaining('"git diff-tree" was given up') as string,
    })
  })
})
