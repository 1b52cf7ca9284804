import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { identify, tokenHolder } from '../../src/core/model/people/identity.ts'
import { createRights, type RightsContext } from '../../src/server/people/rights.ts'
import { buildRollout } from '../server/page-stage.ts'

const rule = (...users: string[]) => `roles: [{role: approver, users: [${users.join(', ')}]}]\n`
const person = (name: string) => {
  const found = identify('oidc', name, { email: name })
  if (found === null) throw new TypeError('expected a person')
  return found
}
const [ada, eve] = [person('ada@example.com'), person('eve@example.com')]

/** Creates rights by the workspace files of commits, oldest first; the last one is the tip. */
function stage(files: string[], own: Partial<RightsContext> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'rights-'))
  const commits = files.map((_, i) => `c${i}`)
  const held: string[] = []
  const lines = ['version: 1', 'serve: {auth: {proxy: {from: [10.0.0.0/8]}}}']
  files.forEach((text, i) => {
    mkdirSync(join(folder, `c${i}`))
    writeFileSync(join(folder, `c${i}`, 'edgewise.yaml'), `${lines.join('\n')}\n${text}`)
  })
  const rights = createRights({
    branch: {
      fetch: async () => commits.at(-1) ?? '',
      hold: async (commit, work) => {
        held.push(commit)
        return work(join(folder, commit))
      },
      listHistory: async (commit, max) =>
        commits
          .slice(0, commits.indexOf(commit) + 1)
          .toReversed()
          .slice(0, max),
      findAuthors: async (after) =>
        after.includes(null) ? 'too many' : new Set(['eve@example.com']),
    },
    clock: { monotonic: () => 0 },
    env: {},
    getTip: () => null,
    listBases: async () => ['c0'],
    listOwnerRoles: async () => [],
    ...own,
  })
  return { rights, held }
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

it('an invalid file is left out for the one before, and each is read once', async () => {
  const { rights, held } = stage([rule(ada.name), 'roles: 7\n', '{'])
  expect(await rights.explain(ada, 'view', null)).toBeNull()
  expect(await rights.explain(eve, 'view', null)).toMatch(/may not see anything/)
  expect(held).toEqual(['c2', 'c1', 'c0'])
  const none = stage(['{', '{'])
  await expect(none.rights.explain(ada, 'view', null)).rejects.toMatchObject({ code: 'invalid' })
  expect(await none.rights.explain(tokenHolder, 'view', null)).toBeNull()
})

it('an owner of a domain approves it by both commits, where there are roles', async () => {
  const ownedBy = (...names: string[]) => ({
    role: 'approver' as const,
    users: names,
    groups: [],
    domains: [],
    named: new Set(rollout.waves[1]?.domains),
  })
  const asked: string[] = []
  const listOwnerRoles = async (commit: string) => {
    asked.push(commit)
    return [ownedBy(...(commit === 'c0' ? [eve.name] : [eve.name, 'new@example.com']))]
  }
  const files = [rule(ada.name), rule(ada.name)]
  const { rights } = stage(files, { listOwnerRoles })
  expect(await rights.explain(eve, 'approve', rollout)).toBeNull()
  expect(await rights.explain(person('new@example.com'), 'approve', rollout)).toMatch(
    /needs the role approver/,
  )
  expect(asked.toSorted()).toEqual(['c0', 'c1'])
  asked.splice(0)
  const plain = stage(['', ''], { listOwnerRoles })
  expect(await plain.rights.explain(eve, 'approve', rollout)).toMatch(/has no roles/)
  expect(asked).toEqual([])
})
