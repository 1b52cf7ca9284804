// @module-tag often
// @module-tag nightly
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Emulator } from '../../src/emulator/emulator.ts'
import { GitSandbox } from '../state/git-sandbox.ts'
import { fetchConfigs, Place, startService, token, fetchWrites } from './cli.ts'

const names = ['shop', 'img', 'api'].map((name) => `${name}.example.com`)
let emulator: Emulator
let sandbox: GitSandbox
/** The runner that applies, and two other machines. */
let runner: Place
let colleague: Place
let other: Place
/** The program with which operators query the service. */
let look: string

beforeAll(async () => {
  emulator = await startService()
  sandbox = new GitSandbox()
  await sandbox.withRemote()
  runner = placeIn('clone')
  runner.write('profiles/baseline.yaml', 'profile: baseline\nconfig:\n  timeout: {time: 60}\n')
  for (const name of names) {
    const own =
      'origin:\n    default_master: 192.0.2.10\n' +
      `  add_response_head:\n    list: [{name: X-Site, value: ${name}}]`
    runner.write(
      `domains/${name}.yaml`,
      `domain: ${name}\nprofiles: [baseline]\nconfig:\n  ${own}\n`,
    )
  }
  expect((await runner.cli('fmt')).code).toBe(0)
  await commit('clone', 'the workspace')
  await sandbox.git('clone', 'push', '--quiet', 'origin', 'main')
  for (const clone of ['colleague', 'other'])
    await sandbox.git('.', 'clone', '--quiet', 'remote.git', clone)
  colleague = placeIn('colleague')
  // The author of a pull request has neither the token nor a secret.
  colleague.env = { ...sandbox.env }
  other = placeIn('other')
  const script = join(sandbox.folder, 'look.mjs')
  const url = JSON.stringify(`${emulator.url}/_emulator/state`)
  writeFileSync(
    script,
    `const answer = await fetch(${url})\n` +
      'console.log(JSON.stringify((await answer.json()).domains))\n',
  )
  look = `'${process.execPath}' '${script}'`
})
afterAll(async () => {
  await emulator.close()
  sandbox.remove()
})

function placeIn(clone: string): Place {
  const place = new Place(emulator.url, '', { root: join(sandbox.folder, clone), state: '' })
  place.env = { ...place.env, ...sandbox.env }
  return place
}

async function commit(clone: string, message: string): Promise<string> {
  await sandbox.git(clone, 'add', '--all')
  await sandbox.git(clone, 'commit', '--quiet', '-m', message)
  return sandbox.git(clone, 'rev-parse', 'HEAD')
}

/** Changes a profile on a branch, and pushes the branch. */
async function propose(branch: string, timeout: number): Promise<void> {
  await sandbox.git('colleague', 'switch', '--quiet', '-c', branch, 'origin/main')
  colleague.write(
    'profiles/baseline.yaml',
    `profile: baseline\nconfig:\n  timeout: {time: ${timeout}}\n`,
  )
  await commit('colleague', branch)
  await sandbox.git('colleague', 'push', '--quiet', 'origin', branch)
}

/** Merges a branch, as a code host does, and updates every clone. */
async function merge(branch: string): Promise<string> {
  await sandbox.git('clone', 'fetch', '--quiet', 'origin')
  await sandbox.git(
    'clone',
    'merge',
    '--quiet',
    '--no-ff',
    '-m',
    `Merge ${branch}`,
    `origin/${branch}`,
  )
  return publish()
}

async function publish(): Promise<string> {
  await sandbox.git('clone', 'push', '--quiet', 'origin', 'main')
  await sandbox.git('other', 'pull', '--quiet', '--ff-only', 'origin', 'main')
  await sandbox.git('colleague', 'fetch', '--quiet', 'origin')
  return sandbox.git('clone', 'rev-parse', 'HEAD')
}

const planCode = async (place: Place) => (await place.cli('plan', '--detailed-exitcode')).code

describe('the path from a pull request to production, and back', () => {
  it('starts with everything applied', async () => {
    await runner.settle()
    expect(Object.keys(await fetchConfigs(emulator)).toSorted()).toEqual(names.toSorted())
  })

  it('a branch is planned, without the token, as a comment and as a file', async () => {
    await propose('longer', 90)
    const planned = await colleague.cli(
      'plan',
      '--out',
      '../reviewed.json',
      '--report',
      '../comment.md',
      '--detailed-exitcode',
    )
    expect(planned).toMatchObject({
      code: 2,
      out: expect.stringContaining('Plan: 3 to change on 3 domains · 1 write') as string,
    })
    const comment = readFileSync(join(sandbox.folder, 'comment.md'), 'utf8')
    expect(comment).toMatch(/^### Edgewise plan\n\nPlan: 3 to change on 3 domains · 1 write/)
    expect(comment).toContain('timeout')
    // Planning wrote nothing, not even to the state branch.
    expect(await sandbox.git('colleague', 'status', '--porcelain')).toBe('')
  })

  it('the merge applies exactly the plan that was reviewed', async () => {
    const merged = await merge('longer')
    const before = (await fetchWrites(emulator)).length
    expect((await runner.cli('apply', '../reviewed.json')).code).toBe(0)
    expect((await fetchWrites(emulator)).length - before).toBe(1)
    for (const name of names)
      expect((await fetchConfigs(emulator))[name]).toMatchObject({ timeout: { time: '90' } })
    expect((await other.json('state', 'history'))['applies']).toMatchObject([
      { outcome: 'complete', commit: merged, writes: { confirmed: 1 } },
      { outcome: 'complete' },
    ])
    expect(await planCode(other)).toBe(0)
  })

  it('a foreign change at the service is detected and repaired', async () => {
    const good = await fetchConfigs(emulator)
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({
      token,
      domains: names[0],
      config: { timeout: { time: '7' }, origin: { default_master: '198.51.100.1' } },
    })
    expect(
      (await fetch(`${emulator.url}/v2/domain/config`, { method: 'POST', headers, body })).status,
    ).toBe(200)
    expect((await other.cli('drift')).code).toBe(0)
    const seen = await other.cli('drift', '--observed', look)
    expect(seen).toMatchObject({
      code: 2,
      out: expect.stringContaining('Drift: 2 at the service.') as string,
    })
    expect((await other.cli('drift', '--observed', look, '--repair', '--yes')).code).toBe(0)
    expect(await fetchConfigs(emulator)).toEqual(good)
    const { code, out } = await runner.cli('drift', '--observed', look)
    expect({ code, out }).toMatchObject({
      code: 0,
      out: expect.stringContaining('Of 9 items: 9 as recorded.') as string,
    })
  })

  it('a bad change is rolled back with one command, and gone after the revert', async () => {
    const good = await fetchConfigs(emulator)
    await propose('worse', 250)
    colleague.write(
      'domains/img.example.com.yaml',
      'domain: img.example.com\nconfig:\n  origin_host: {host: gone.example.com}\n',
    )
    await commit('colleague', 'worse still')
    await sandbox.git('colleague', 'push', '--quiet', 'origin', 'worse')
    const merged = await merge('worse')
    expect((await runner.cli('apply', '--yes')).code).toBe(0)
    expect(await fetchConfigs(emulator)).not.toEqual(good)

    const back = await other.cli('rollback', '--yes')
    expect(back).toMatchObject({
      code: 0,
      err: expect.stringContaining(`git revert ${merged.slice(0, 12)}`) as string,
    })
    const { 'img.example.com': img, ...rest } = await fetchConfigs(emulator)
    // An unset origin host is the domain itself; everything else is unchanged.
    expect({ ...rest, 'img.example.com': { ...img, origin_host: undefined } }).toEqual(good)
    expect(img).toMatchObject({ origin_host: { host: 'img.example.com' } })
    expect(await planCode(runner)).toBe(2)

    await sandbox.git('clone', 'revert', '--no-edit', '-m', '1', merged)
    await publish()
    for (const place of [runner, other]) expect(await planCode(place)).toBe(0)
    // The clocks of these machines differ, and with them the order.
    const applies = (await other.json('state', 'history'))['applies'] as {
      id: string
      commit: string | null
    }[]
    expect(applies.filter(({ id }) => id.endsWith('-rollback'))).toMatchObject([
      { commit: null, outcome: 'complete' },
    ])
    expect(applies).toHaveLength(5)
  })
})
