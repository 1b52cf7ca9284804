// @module-tag often
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { fetchWrites, Place, type CommandResult } from './cli.ts'
import { emulator, enterPlace, place, setStageInTime, time } from './stage.ts'

setStageInTime()

const name = (i: number) => `d${i}.example.com`

function git(...args: string[]): string {
  const settings = ['user.name=t', 'user.email=t@example.com', 'commit.gpgsign=false']
  return execFileSync('git', [...settings.flatMap((each) => ['-c', each]), ...args], {
    cwd: place.root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()
}

function commit(): string {
  git('add', '-A')
  git('commit', '--allow-empty', '-m', 'change')
  return git('rev-parse', 'HEAD')
}

/** Writes the workspace file with more keys, and the manifests of four domains. */
function write(keys: string, seconds: number): void {
  const { root } = place
  const other = new Place(emulator.url, keys, { root })
  other.env = place.env
  enterPlace(other)
  for (let i = 0; i < 4; i++) place.manifest(name(i), { timeout: { time: seconds } })
}

const apply = (...more: string[]): Promise<CommandResult> => place.cli('apply', '--yes', ...more)

/** Lists the domains of the writes since the first apply. */
const listSent = async () => (await fetchWrites(emulator)).slice(1).map(({ domains }) => domains)

beforeEach(async () => {
  git('init', '-q', '-b', 'main')
  place.write('.gitignore', '.edgewise\n')
  write('', 60)
  commit()
  expect((await apply()).code).toBe(0)
})

/** Applies a commit with these keys alone. */
async function restrain(keys: string): Promise<void> {
  write(keys, 60)
  commit()
  const { code, err } = await apply()
  expect([code, err]).toEqual([0, err])
}

const policy =
  'policy: slow\nlevel: hard\non: domain\ndeny: config.timeout.time == 61\nmessage: no\n'
const policies: Record<string, string> = {
  strict: policy,
  advisory: policy.replace('hard', 'advisory'),
  other: policy.replace('61', '62'),
  none: '# no policy\n',
}

function setPolicy(text: string): void {
  place.write('policies/slow.yaml', policies[text] ?? '')
}

describe('a commit that loosens and changes', () => {
  it.each<[key: string, before: string, after: string, refusal: string, options?: string[]]>([
    ['guards.protect', 'guards: {protect: ["d0.*"]}', '', 'protect: d0.example.com is protected'],
    [
      'guards.protect',
      'guards: {protect: ["*", "!d1.*"]}',
      'guards: {protect: ["d9.*", "!d2.*"]}',
      'protect: d0.example.com, d2.example.com, d3.example.com are protected',
    ],
    ['guards.maxDomains', 'guards: {maxDomains: 3}', '', 'maxDomains: 4 of 4 domains'],
    ['guards.maxDomains', 'guards: {maxDomains: 3}', 'guards: {maxDomains: 90%}', 'more than 3'],
    ['guards.maxDomains', 'guards: {maxDomains: 3}', 'guards: {maxDomains: 4}', 'more than 3'],
    ['guards.maxChanges', 'guards: {maxChanges: 3}', '', 'maxChanges: 4 of 4 items'],
    ['guards.maxTraffic', 'guards: {maxTraffic: 20%}', '', 'maxTraffic: the traffic of 4 domains'],
    [
      'guards.freeze',
      'guards: {freeze: [{from: 2000-01-01, to: 3000-01-01, reason: sale}]}',
      '',
      'freeze: nothing is applied from 2000-01-01',
    ],
    [
      'guards.reason',
      'guards: {reason: [freeze], freeze: [{from: 2000-01-01, to: 3000-01-01}]}',
      'guards: {freeze: [{from: 2000-01-01, to: 3000-01-01}]}',
      'an apply in a freeze needs a reason',
      ['--override', 'freeze'],
    ],
    ['rollout.approval', 'rollout: {approval: [1]}', '', 'wave 1 needs approval', ['--no-waves']],
  ])(
    'is judged by what was applied last: %s, %s → %s',
    async (key, before, after, why, more = []) => {
      await restrain(`${before}\n`)
      write(`${after}\n`, 61)
      commit()
      const plan = await place.json('plan')
      expect(plan).toMatchObject({
        warnings: expect.arrayContaining([
          expect.stringContaining(`${key}: this commit has`),
        ]) as [],
      })
      // Again: the same commit does not count as the next one.
      for (let i = 0; i < 2; i++) {
        const { code, err } = await apply(...more)
        expect([code, err]).toEqual([1, expect.stringContaining(why)])
        const said = err.replaceAll(/\s+/g, ' ')
        expect(said).toContain(`${key}: this commit has`)
        expect(said).toContain('Merge that alone first')
      }
      expect(await listSent()).toEqual([])
      commit()
      expect((await place.cli('plan')).err).not.toContain('this commit has')
      const { code, err } = await apply(...more)
      expect([code, err]).toEqual([0, err])
      expect(await listSent()).toHaveLength(1)
    },
  )

  it.each(['advisory', 'other', 'none'])('is judged by the policy: %s', async (weaker) => {
    setPolicy('strict')
    await restrain('')
    setPolicy(weaker)
    write('', 61)
    commit()
    for (let i = 0; i < 2; i++) {
      const { code, err } = await apply()
      expect([code, err]).toEqual([1, expect.stringContaining('slow (hard): no')])
      expect(err.replaceAll(/\s+/g, ' ')).toContain('policies: this commit has')
    }
    expect(await listSent()).toEqual([])
    commit()
    expect((await apply()).code).toBe(0)
  })

  it.each(['advisory', 'none'])('may loosen a policy that nothing violates: %s', async (weaker) => {
    setPolicy('strict')
    await restrain('')
    setPolicy(weaker)
    write('', 62)
    commit()
    expect((await apply()).code).toBe(0)
  })

  it('is judged by the severities of findings', async () => {
    const level = (severity: string) => `checks: {item-conflict: ${severity}}\n`
    await restrain(level('error'))
    write(level('off'), 61)
    place.manifest(name(0), {
      origin: { default_master: '192.0.2.10' },
      new_origin: [{ origin: '192.0.2.1', level: 20 }],
    })
    commit()
    for (let i = 0; i < 2; i++) {
      const { code, err } = await apply()
      expect([code, err]).toEqual([1, expect.stringContaining('checks: this commit has')])
    }
    expect((await place.cli('plan')).code).toBe(1)
    // An apply that is refused because of errors is none.
    commit()
    expect((await apply()).code).toBe(1)
    place.manifest(name(0), { timeout: { time: 61 } })
    commit()
    expect((await apply()).code).toBe(0)
    place.manifest(name(0), {
      origin: { default_master: '192.0.2.10' },
      new_origin: [{ origin: '192.0.2.1', level: 20 }],
    })
    commit()
    expect((await apply()).code).toBe(0)
  })

  it('asks before it goes back to older values', async () => {
    const first = git('rev-parse', 'HEAD')
    write('', 61)
    commit()
    expect((await apply()).code).toBe(0)
    git('checkout', '-q', '-b', 'side', first)
    write('guards: {order: off}\n', 60)
    commit()
    for (let i = 0; i < 2; i++)
      expect(await apply()).toMatchObject({
        code: 1,
        err: expect.stringContaining('guards.order refuses') as string,
      })
    commit()
    expect((await apply()).code).toBe(0)
  })

  it('waits for the approval that it takes out, and is approved by as many', async () => {
    await restrain('rollout: {approval: [1]}\n')
    write('', 61)
    commit()
    for (let i = 0; i < 2; i++) {
      const { code, out } = await apply()
      expect([code, out]).toEqual([0, expect.stringContaining('Waiting for approval')])
    }
    expect(await listSent()).toEqual([])
    const [rollout] = place.loadRollouts()
    expect((await place.cli('rollout', 'approve', rollout?.id ?? '')).code).toBe(0)
    expect((await apply()).code).toBe(0)
    expect(await listSent()).toHaveLength(1)
  })

  it.each([
    ['a part', ['--target', name(3)]],
    ['a refused apply', ['--override', 'nope', '--reason', 'y']],
  ])('takes the approval that it takes out, also after %s', async (_what, options) => {
    const roles = (user: string) => `roles: [{role: approver, users: ["${user}"]}]\n`
    const approval = 'rollout: {approval: [1]}\n'
    await restrain(approval + roles('subject:ada'))
    write(approval + roles('unidentified'), 60)
    place.manifest(name(0), { timeout: { time: 61 } })
    commit()
    expect((await apply('--no-wait')).code).toBe(0)
    const [rollout] = place.loadRollouts()
    const approve = () => place.cli('rollout', 'approve', rollout?.id ?? '')
    expect((await approve()).code).toBe(1)
    await apply(...options)
    expect((await approve()).code).toBe(1)
    expect(await listSent()).toEqual([])
  })

  it('is judged by the readings of before, where a policy traces requests', async () => {
    const requestPolicy =
      'policy: shut\nlevel: hard\non: request\nrequests: requests/shut.txt\n' +
      "deny: trace.access.decision != 'denied'\nmessage: open\n"
    place.write('policies/shut.yaml', requestPolicy)
    place.write('requests/shut.txt', `http://${name(0)}/admin\n`)
    const assume = (more: string) =>
      `trace: {assume: {unmanaged: absent, R18: anti-leech${more}}}\n`
    write(assume(''), 60)
    place.manifest(name(0), { deny_url: { urls: [`http://${name(0)}/admin`] } })
    commit()
    const { code, err } = await apply()
    expect([code, err]).toEqual([0, err])
    write(assume(', R6: insensitive'), 60)
    place.manifest(name(0), { deny_url: { urls: [`http://${name(0)}/ADMIN`] } })
    commit()
    for (let i = 0; i < 2; i++)
      expect(await apply()).toMatchObject({
        code: 1,
        err: expect.stringContaining('shut (hard): open') as string,
      })
  })

  it('protects a domain under the name that it gives it', async () => {
    await restrain(`guards: {protect: ["${name(0)}"]}\n`)
    const moved = `moved: [{from: ${name(0)}, to: new.example.com}]\n`
    write(`guards: {protect: ["${name(0)}"]}\n${moved}`, 60)
    rmSync(join(place.root, `domains/${name(0)}.yaml`))
    place.manifest('new.example.com', { timeout: { time: 61 } })
    commit()
    const { code, err } = await apply()
    expect([code, err]).toEqual([1, expect.stringContaining('new.example.com is protected')])
    place.manifest('new.example.com', { timeout: { time: 60 } })
    commit()
    expect((await apply()).code).toBe(0)
  })

  it('goes out in the waves that it takes out, with the first ones first', async () => {
    await restrain('rollout: {waves: [1, 100%], first: ["d3.*"], pause: 1m}\n')
    write('rollout: {waves: [1, 100%], pause: 1m}\n', 61)
    commit()
    expect((await apply()).code).toBe(0)
    expect(await listSent()).toEqual([[name(3)], [name(0), name(1), name(2)]])
    write('', 62)
    commit()
    expect((await apply()).code).toBe(0)
    expect((await listSent()).slice(2)).toEqual([[name(0)], [name(1), name(2), name(3)]])
    write('', 63)
    commit()
    expect((await apply()).code).toBe(0)
    expect((await listSent()).slice(4)).toHaveLength(1)
  })

  it('is watched by the health check that it takes out, until its rollout has ended', async () => {
    const waves = 'waves: [1, 100%], pause: 1m'
    await restrain(`rollout: {${waves}, health: {}}\n`)
    write(`rollout: {${waves}}\n`, 61)
    commit()
    const measure = async (...more: string[]) => {
      const start = time.now
      expect((await apply(...more)).code).toBe(0)
      return Math.floor((time.now - start) / 60_000)
    }
    // The first wave has a window, and the second one, too.
    expect(await measure('--no-wait')).toBeLessThan(30)
    commit()
    expect(await measure()).toBeGreaterThanOrEqual(60)
    write(`rollout: {${waves}}\n`, 62)
    commit()
    expect(await measure()).toBeLessThan(5)
  })
})

describe('what restrains', () => {
  it('counts at once where a commit makes it stricter', async () => {
    write('guards: {maxDomains: 3}\n', 61)
    commit()
    expect(await apply()).toMatchObject({ code: 1 })
  })

  it('is not lowered by an earlier commit that is applied again', async () => {
    const first = git('rev-parse', 'HEAD')
    await restrain('guards: {maxDomains: 3}\n')
    git('checkout', '-q', first)
    expect((await apply()).code).toBe(0)
    git('checkout', '-q', 'main')
    write('', 61)
    commit()
    expect(await apply()).toMatchObject({ code: 1 })
  })

  it('is not lowered by an apply that nobody agreed to', async () => {
    await restrain('guards: {maxDomains: 3}\n')
    write('', 60)
    place.manifest(name(0), { timeout: { time: 61 } })
    commit()
    expect((await place.cli('apply')).code).toBe(1)
    write('', 61)
    commit()
    expect(await apply()).toMatchObject({
      code: 1,
      err: expect.stringContaining('more than 3') as string,
    })
  })

  it('holds without git: any edit is the next commit, and a repetition is not', async () => {
    enterPlace(new Place(emulator.url))
    write('', 60)
    await apply()
    write('guards: {maxDomains: 3}\n', 60)
    expect((await apply()).code).toBe(0)
    write('', 61)
    expect((await apply()).code).toBe(1)
    expect((await apply()).code).toBe(1)
    write('', 62)
    expect((await apply()).code).toBe(0)
    // Going back to what was refused is another commit, too.
    write('', 61)
    expect((await apply()).code).toBe(0)
    place.remove()
  })

  it('is recorded only once it changes', async () => {
    const path = () => place.findStateFile('restraints.json')
    expect(path()).toBeUndefined()
    await restrain('guards: {maxDomains: 3}\n')
    const texts: string[] = []
    // The next commit has that before it.
    for (const seconds of [61, 62, 63]) {
      place.manifest(name(0), { timeout: { time: seconds } })
      commit()
      expect((await apply()).code).toBe(0)
      texts.push(place.read(path() ?? ''))
    }
    expect(new Set(texts).size).toBe(1)
  })
})

describe('a rollout', () => {
  const roles = 'roles: [{role: operator, users: [unidentified]}]\n'
  const approval = 'rollout: {approval: [1]}\n'

  /** Applies a commit up to its approval; returns whether it is the first one with roles. */
  async function begin(keys: string, seconds: number, isNew = true): Promise<boolean | undefined> {
    const last = place.loadRollouts().find(({ state }) => state === 'open')
    if (last !== undefined) await place.cli('rollout', 'abort', last.id)
    write(keys, seconds)
    if (isNew) commit()
    const { code, err } = await apply('--retry-held')
    expect([code, err]).toEqual([0, err])
    return place.loadRollouts().find(({ state }) => state === 'open')?.firstRoles
  }

  it('is of the first roles that are applied, also if its commit is applied again', async () => {
    expect(await begin(approval, 61)).toBeUndefined()
    expect(await begin(approval + roles, 62)).toBe(true)
    // Once more by the same commit, and then by the next one.
    expect(await begin(approval + roles, 62, false)).toBe(true)
    expect(await begin(approval + roles, 63)).toBeUndefined()
  })

  it('is not once a commit had roles that was applied, although it took them away', async () => {
    await restrain(roles)
    await restrain('')
    await restrain('')
    expect(await begin(approval + roles, 62)).toBeUndefined()
  })

  it('is after a commit with roles that was refused: nobody had them', async () => {
    write(`guards: {maxDomains: 1}\n${roles}`, 62)
    commit()
    expect((await apply()).code).toBe(1)
    expect(await begin(approval + roles, 63)).toBe(true)
  })
})
