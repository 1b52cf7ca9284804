import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { identify, tokenHolder } from '../../src/core/model/people/identity.ts'
import { loadWorkspace } from '../../src/manifest/manifests/load-workspace.ts'
import { weighDecision, type Rules } from '../../src/operations/people/decide.ts'
import { listRules } from '../../src/operations/people/owners.ts'
import { createRights, type RightsContext } from '../../src/server/people/rights.ts'
import { plainKeeper } from '../manifest/test-workspace.ts'
import { buildRollout } from '../server/page-stage.ts'

const rule = (...users: string[]) => `roles: [{role: approver, users: [${users.join(', ')}]}]\n`
const person = (name: string) => {
  const found = identify('oidc', name, { email: name })
  if (found === null) throw new TypeError('expected a person')
  return found
}
const [ada, eve] = [person('ada@example.com'), person('eve@example.com')]

const head = 'version: 1\nserve: {auth: {proxy: {from: [10.0.0.0/8]}}}'

/** Creates rights by the workspace files of commits, oldest first; the last one is the tip. */
function stage(files: string[], own: Partial<RightsContext> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'rights-'))
  const commits = files.map((_, i) => `c${i}`)
  const [loaded, log]: [string[], string[]] = [[], []]
  files.forEach((text, i) => {
    mkdirSync(join(folder, `c${i}`))
    writeFileSync(join(folder, `c${i}`, 'edgewise.yaml'), `${head}\n${text}`)
  })
  const rights = createRights({
    branch: {
      fetch: async () => commits.at(-1) ?? '',
      listHistory: async (commit, max) =>
        commits
          .slice(0, commits.indexOf(commit) + 1)
          .toReversed()
          .slice(0, max),
      findAuthors: async (after) =>
        after.includes(null) ? 'too many' : new Set(['eve@example.com']),
    },
    clock: { monotonic: () => 0 },
    logger: {
      warn: (text, fields) =>
        void log.push([text, fields?.['commit'], fields?.['error']].join(': ')),
    },
    // What a process of its own does.
    loadRules: async (commit) => {
      loaded.push(commit)
      const rules = listRules(loadWorkspace(join(folder, commit), {}, () => plainKeeper))
      return JSON.parse(JSON.stringify(rules)) as Rules
    },
    getTip: () => null,
    listBases: async () => ['c0'],
    ...own,
  })
  return { rights, folder, loaded, log }
}

const rollout = buildRollout({ commit: 'c1' })

it('a commit gives nobody the right to approve it, and takes one at once', async () => {
  const { rights } = stage([rule(ada.name), rule(ada.name, eve.name), rule(eve.name)])
  expect(await rights.explain(ada, 'approve', rollout)).toMatch(/needs the role approver/)
  expect(await rights.explain(eve, 'approve', rollout)).toMatch(/needs the role approver/)
  const next = buildRollout({ commit: 'c2' })
  expect(await rights.explain(eve, 'approve', next)).toBeNull()
  const both = stage([rule(ada.name), rule(ada.name, eve.name)])
  expect(await both.rights.explain(ada, 'approve', rollout)).toBeNull()
})

it('the first commit of a repository lets only the token decide', async () => {
  const { rights } = stage([rule(ada.name)])
  const first = buildRollout({ commit: 'c0' })
  expect(await rights.explain(ada, 'approve', first)).toMatch(/only the token decides/)
  expect(await rights.explain(tokenHolder, 'approve', first)).toBeNull()
})

it('the first commit with roles that is applied counts, but not for its authors', async () => {
  const two = 'rollout: {approval: {wave: 1, by: 2}}\n'
  const { rights } = stage(['', `${rule(ada.name, eve.name, 'ci:job')}${two}`])
  const first = buildRollout({ commit: 'c1', firstRoles: true })
  expect(await rights.explain(ada, 'approve', first)).toBeNull()
  // Eve wrote the commit, and has added herself.
  expect(await rights.explain(eve, 'approve', first)).toBe(
    'eve@example.com wrote a part of the change. No commit that was applied before had roles: ' +
      'the first ones count here, but not for its authors.',
  )
  const job = identify('ci', 'job') ?? ada
  expect(await rights.explain(job, 'approve', first)).toMatch(/shows nobody's name/)
  expect(await rights.explain(person('bob@example.com'), 'approve', first)).toMatch(/the role/)
  expect(await rights.explain(tokenHolder, 'approve', first)).toMatch(/shows nobody's name/)
  const one = stage(['', rule(ada.name, 'ci:job')])
  expect(await one.rights.explain(job, 'approve', first)).toMatch(/nothing proves an e-mail/)
  expect(await one.rights.explain(tokenHolder, 'approve', first)).toBeNull()
  // Whoever the tip takes a role from has none, as ever.
  const taken = stage(['', rule(ada.name), rule(eve.name)])
  expect(await taken.rights.explain(ada, 'approve', first)).toMatch(/needs the role approver/)
  // Authors who are not known let nobody approve.
  const unknown = stage(['', rule(ada.name)], { listBases: async () => [null] })
  expect(await unknown.rights.explain(ada, 'approve', first)).toMatch(/are not known/)
})

it('who adds himself by a commit that is never applied does not approve the next one', async () => {
  const { rights } = stage(['', rule(ada.name, eve.name), rule(ada.name, eve.name)])
  const pushed = buildRollout({ commit: 'c2', firstRoles: true })
  expect(await rights.explain(eve, 'approve', pushed)).toMatch(/wrote a part of the change/)
  expect(await rights.explain(ada, 'approve', pushed)).toBeNull()
})

it('what the commit before asked of approvals holds for the first one with roles', async () => {
  const before = 'rollout: {approval: {wave: 1, by: 2}}\n'
  const { rights } = stage([before, rule(ada.name)])
  const { sets } = await rights.findRulesFor(
    ada,
    'approve',
    buildRollout({ commit: 'c1', firstRoles: true }),
  )
  expect(sets.map(({ needs }) => needs.by)).toEqual([1, 2])
})

it('after roles were removed only the token decides, and alone, whoever adds himself', async () => {
  const strict = 'rollout: {approval: {wave: 1, by: 2, notAuthor: true}}\n'
  const { rights } = stage([rule(ada.name), strict, `${rule(ada.name, eve.name)}${strict}`])
  const again = buildRollout({ commit: 'c2' })
  for (const identity of [ada, eve])
    expect(await rights.explain(identity, 'approve', again)).toBe(
      `${identity.name} may not approve: the commit before the rollout's own has no roles, so ` +
        'that only the token decides.',
    )
  expect(await rights.explain(tokenHolder, 'approve', again)).toBeNull()
  const rules = await rights.findRulesFor(tokenHolder, 'approve', again)
  expect(weighDecision(tokenHolder, 'approve', again, rules)).toEqual({ by: 1, domains: null })
  // What the commit that removes them is restrained by holds for itself.
  const removing = buildRollout({ commit: 'c1' })
  const removed = stage([`${rule(ada.name)}${strict}`, ''])
  expect(await removed.rights.explain(tokenHolder, 'approve', removing)).toMatch(/nobody's name/)
})

it('what a commit asks of approvals holds even if the next one asks less', async () => {
  const strict = `${rule(ada.name, eve.name)}rollout: {approval: {wave: 1, notAuthor: true}}\n`
  const { rights } = stage([strict, rule(ada.name, eve.name)])
  expect(await rights.explain(eve, 'approve', rollout)).toMatch(/wrote a part/)
  expect(await rights.explain(ada, 'approve', rollout)).toBeNull()
  const unknown = stage([strict, strict], { listBases: async () => ['c0', null] })
  expect(await unknown.rights.explain(ada, 'approve', rollout)).toMatch(
    /are not known, so nobody may approve it: too many\.$/,
  )
})

it('a refused commit is left out for the one before, which the log names once', async () => {
  const { rights, loaded, log } = stage([rule(ada.name), 'roles: 7\n', '{'])
  expect(await rights.explain(ada, 'view', null)).toBeNull()
  expect(await rights.explain(eve, 'view', null)).toMatch(/may not see anything/)
  // Those of the accepted one are known; a refused one may be accepted later.
  expect(loaded).toEqual(['c2', 'c1', 'c0', 'c2', 'c1'])
  expect(log).toEqual([
    expect.stringMatching(/^roles of an earlier commit used: c0: edgewise.yaml is not/),
  ])
  const none = stage(['{', '{'])
  await expect(none.rights.explain(ada, 'view', null)).rejects.toMatchObject({ code: 'invalid' })
  expect(await none.rights.explain(tokenHolder, 'view', null)).toBeNull()
})

it('a refused commit has its own roles as soon as it is accepted', async () => {
  const { rights, folder } = stage([rule(ada.name), '{'])
  expect(await rights.explain(eve, 'view', null)).toMatch(/may not see anything/)
  expect(await rights.explain(eve, 'approve', buildRollout({ commit: 'c1' }))).not.toBeNull()
  writeFileSync(join(folder, 'c1', 'edgewise.yaml'), `${head}\n${rule(eve.name)}`)
  expect(await rights.explain(eve, 'view', null)).toBeNull()
})

it('an owner of a domain approves it by both commits, where there are roles', async () => {
  const name = rollout.waves[1]?.domains[0]
  const owned = (commit: string, folder: string, ...owners: string[]) => {
    mkdirSync(join(folder, commit, 'domains'))
    const text = `domain: ${name}\nowners: [${owners.join(', ')}]\nconfig: {https: {}}\n`
    writeFileSync(join(folder, commit, 'domains/a.yaml'), text)
  }
  const { rights, folder } = stage([rule(ada.name), rule(ada.name)])
  owned('c0', folder, eve.name)
  owned('c1', folder, eve.name, 'new@example.com')
  expect(await rights.explain(eve, 'approve', rollout)).toBeNull()
  expect(await rights.explain(person('new@example.com'), 'approve', rollout)).toMatch(
    /needs the role approver/,
  )
  const plain = stage(['', ''])
  owned('c0', plain.folder, eve.name)
  owned('c1', plain.folder, eve.name)
  expect(await plain.rights.explain(eve, 'approve', rollout)).toMatch(/has no roles/)
})
