// @module-tag often
// @module-tag nightly
import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { place, setStageInTime } from './stage.ts'

const www = 'www.example.com'
const plain = { default_master: '192.0.2.10', origin_mode: 'http' }

setStageInTime()

function git(...args: string[]): void {
  const settings = ['user.name=t', 'user.email=t@example.com', 'commit.gpgsign=false']
  execFileSync('git', [...settings.flatMap((each) => ['-c', each]), ...args], {
    cwd: place.root,
    stdio: 'ignore',
  })
}

function commit(message: string): void {
  git('add', '-A')
  git('commit', '--allow-empty', '-m', message)
}

const tls = 'policy: tls\nlevel: hard\non: domain\nwhen: has(config.origin)\n'

/** Commits a workspace with a violation. */
function start(): void {
  place.manifest(www, { origin: plain, timeout: { time: 60 } })
  place.write('policies/tls.yaml', `${tls}deny: config.origin.origin_mode == "http"\nmessage: no\n`)
  git('init', '-q', '-b', 'main')
  commit('start')
}

function except(text: string, at: 'manifest' | 'policies'): void {
  if (at === 'policies') place.write('policies/except.yaml', `except: [${text}]\n`)
  else
    place.write(
      `domains/${www}.yaml`,
      place.read(`domains/${www}.yaml`).replace(/^\{/, `{except: [${text}], `),
    )
}

const entry = 'policy: tls, reason: until March, until: 2026-12-31'

async function findCodes(): Promise<string[]> {
  const { out } = await place.cli('validate', '--json')
  return (JSON.parse(out) as { diagnostics: { code: string }[] }).diagnostics.map(
    ({ code }) => code,
  )
}

it.each(['manifest', 'policies'] as const)(
  'an exception in %s counts from the commit after the one that brings it',
  async (at) => {
    start()
    expect(await findCodes()).toEqual(['policy-violated'])
    except(`{${entry}}`, at)
    const waiting = ['exception-waiting', 'policy-violated']
    // Not committed, and then by the commit that brings it.
    expect((await findCodes()).toSorted()).toEqual(waiting)
    commit('except')
    expect((await findCodes()).toSorted()).toEqual(waiting)
    expect((await place.cli('apply', '--yes')).code).toBe(1)
    expect((await place.cli('plan')).err).toContain('counts from the commit after')
    commit('next')
    expect(await findCodes()).toEqual([])
    const plan = await place.cli('plan')
    expect(plan.err.replaceAll(/\s+/g, ' ')).toContain(
      'from tls is used for 1 violation, until 2026-12-31 (42 days left): until March',
    )
    expect(await place.json('plan')).toMatchObject({
      policies: { violations: [], exceptions: [{ policy: 'tls', used: 1, daysLeft: 42 }] },
    })
    expect((await place.cli('policies')).out).toContain(
      'tls  until 2026-12-31 · 42 days left · excepts 1',
    )
    expect((await place.cli('apply', '--yes')).code).toBe(0)
  },
)

it.each([
  ['prolonged', 'policy: tls, reason: until March, until: 2027-01-31'],
  ['for more domains', 'policy: tls, reason: until March, until: 2026-12-31'],
  ['for more items', 'policy: tls, items: [origin], reason: x, until: 2026-12-31'],
])('an exception that is %s does not count yet', async (_name, next) => {
  start()
  const narrow = 'policy: tls, domains: [a.example.com], items: [timeout], reason: x, '
  const first = next.includes('2027') ? entry : `${narrow}until: 2026-12-31`
  except(`{${first}}`, 'policies')
  commit('except')
  commit('next')
  except(`{${next}}`, 'policies')
  commit('more')
  expect(await findCodes()).toContain('policy-violated')
  expect(await findCodes()).toContain('exception-waiting')
  commit('next')
  expect(await findCodes()).toEqual([])
})

it('another reason and fewer domains leave an exception as it was', async () => {
  start()
  except(`{${entry}}`, 'policies')
  commit('except')
  commit('next')
  except('{policy: tls, domains: ["www.*"], reason: better, until: 2026-12-01}', 'policies')
  commit('narrower')
  expect(await findCodes()).toEqual([])
})

it('expired, unused and unknown exceptions are findings', async () => {
  start()
  except(
    '{policy: tls, reason: x, until: 2026-11-19}, {policy: tsl, reason: x, until: 2026-12-31}, ' +
      '{policy: tls, domains: [a.example.com], reason: x, until: 2026-12-31}',
    'policies',
  )
  commit('except')
  commit('next')
  expect((await findCodes()).toSorted()).toEqual([
    'exception-expired',
    'exception-unknown',
    'exception-unused',
    'policy-violated',
  ])
  except('{policy: tls, reason: x, until: 2026-11-20}', 'policies')
  commit('last day')
  commit('next')
  expect(await findCodes()).toEqual([])
})

it('a comment in a file of policies allows a warning about an exception', async () => {
  start()
  const write = (comment: string, until = '2026-11-19') =>
    place.write(
      'policies/except.yaml',
      `except:\n  - policy: tls\n    reason: x\n    # edgewise: ${comment}\n    until: ${until}\n`,
    )
  write('allow exception-expired until 2026-12-31: the vendor is late')
  commit('except')
  commit('next')
  expect(await findCodes()).toEqual(['policy-violated'])
  write('allow exception-expired until 2026-11-19: the vendor is late')
  expect((await findCodes()).toSorted()).toEqual([
    'exception-expired',
    'policy-violated',
    'suppression-expired',
  ])
  write('allow policy-violated until 2026-12-31: no')
  expect(await findCodes()).toContain('suppression-unknown')
  write('alow')
  expect(await findCodes()).toContain('suppression-invalid')
  place.manifest(www, { origin: { ...plain, origin_mode: 'https' } })
  write('allow exception-expired until 2026-12-31: x', '2026-12-31')
  expect((await findCodes()).toSorted()).toContain('suppression-unused')
})

it('a pull request of several commits does not excuse itself', async () => {
  start()
  git('update-ref', 'refs/remotes/origin/main', 'HEAD')
  except(`{${entry}}`, 'manifest')
  commit('except')
  commit('next')
  expect(await findCodes()).toEqual([])
  for (const name of ['GITHUB_BASE_REF', 'CI_MERGE_REQUEST_TARGET_BRANCH_NAME']) {
    place.env[name] = 'main'
    expect(await findCodes()).toContain('exception-waiting')
    place.env[name] = 'elsewhere'
    const { out } = await place.cli('validate')
    expect(out.replaceAll(/\s+/g, ' ')).toContain('does not have the branch "elsewhere"')
    delete place.env[name]
  }
  git('update-ref', 'refs/remotes/origin/main', 'HEAD')
  place.env['GITHUB_BASE_REF'] = 'main'
  expect(await findCodes()).toEqual([])
})

it('without Git no exception counts, and that is said', async () => {
  place.manifest(www, { origin: plain })
  place.write('policies/tls.yaml', `${tls}deny: config.origin.origin_mode == "http"\nmessage: no\n`)
  except(`{${entry}}`, 'manifest')
  const { code, out } = await place.cli('validate')
  expect([code, out]).toEqual([1, expect.stringContaining('there is no usable Git repository')])
})

it('an exception of a manifest is for its own domains', async () => {
  start()
  place.manifest('a.example.com', { origin: plain })
  except(`{${entry}}`, 'manifest')
  commit('except')
  commit('next')
  const { out } = await place.cli('validate', '--json')
  expect(JSON.parse(out)).toMatchObject({
    diagnostics: [{ code: 'policy-violated', domain: 'a.example.com' }],
  })
})

it('a profile has no exceptions', async () => {
  place.write('profiles/p.yaml', `profile: p\nexcept: [{${entry}}]\nconfig: {}\n`)
  place.manifest(www, { timeout: { time: 60 } })
  expect((await place.cli('validate')).out).toContain('no key "except" in a profile')
})
