// @module-tag often
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import { actions, type Action, type RoleRule } from '../../src/core/model/people/roles.ts'
import { open } from '../../src/index.ts'
import { closeHttp } from '../server/http-stage.ts'
import { commit, configure, enterServed, runSql, setServeStage } from '../server/serve-stage.ts'
import { place, setStage } from '../steps/stage.ts'
import { attemptByApi, attemptByPage, bosses, rows, startWithRoles, token } from './attempts.ts'

const guide = new URL('../../docs/guides/people.md', import.meta.url)
const heading = '| role | ' + actions.map((action) => action.replace('-', ' ')).join(' | ') + ' |'

afterEach(closeHttp)

/** Formats what each role may, as the guide has it. */
function formatTable(found: Map<string, Action[]>): string {
  const lines = [...found].map(([name, allowed]) => {
    const cells = actions.map((action) => (allowed.includes(action) ? 'yes' : 'no'))
    return `| ${[name, ...cells].join(' | ')} |`
  })
  return [heading, '|---'.repeat(actions.length + 1) + '|', ...lines].join('\n')
}

it('each role may by pages and by the API what the table of the guide has', async () => {
  const found = new Map<string, Action[]>()
  for (const [name, rule] of rows) {
    const subjects = { users: ['ci:job-1'], groups: ['members'] }
    const { http } = await startWithRoles([
      bosses,
      ...(rule === null ? [] : [{ ...rule, ...subjects }]),
    ])
    const allowed: Action[] = []
    for (const action of actions) {
      const byApi = await attemptByApi(http, action, 'job-1')
      expect([name, action, await attemptByPage(http, action, 'members')]).toEqual([
        name,
        action,
        byApi,
      ])
      if (byApi) allowed.push(action)
    }
    found.set(name, allowed)
  }
  const { http } = await startWithRoles([])
  const byToken: Action[] = []
  for (const action of actions) if (await attemptByApi(http, action, token)) byToken.push(action)
  found.set('the token', byToken)
  const table = formatTable(found)
  const text = readFileSync(guide, 'utf8')
  const start = text.indexOf(heading)
  const end = text.indexOf('\n\n', start)
  if (process.env['EDGEWISE_WRITE_TABLES'] === '1')
    writeFileSync(guide, text.slice(0, start) + table + text.slice(end))
  else expect(text.slice(start, end)).toBe(table)
})

it('every refused attempt is logged with its reason, and counted', async () => {
  const roles: RoleRule[] = [{ role: 'viewer', users: ['ci:job-1'], groups: [], domains: ['*'] }]
  const { http, log } = await startWithRoles(roles)
  expect(await attemptByApi(http, 'abort', 'job-1')).toBe(false)
  expect(await attemptByApi(http, 'view', 'job-2')).toBe(false)
  expect(log).toEqual(['action refused', 'action refused'])
})

describe('by the command line', () => {
  setStage()
  setServeStage()

  it('the role of the database decides, by the same table', async () => {
    enterServed('rollout: {approval: [1]}\n')
    const [user] = (await runSql('select session_user as name')) as { name: string }[]
    const base = readFileSync(join(place.root, 'edgewise.yaml'), 'utf8')
    const text = readFileSync(guide, 'utf8')
    for (const [i, [name, rule]] of rows.entries()) {
      // Domains of the rollout are d0.example.com and d1.example.com.
      configure(2, 60 + i)
      writeFileSync(join(place.root, 'edgewise.yaml'), base)
      commit()
      const here = () => open(place.root, { outside: { env: place.env } })
      await here().apply()
      const [listed] = await here().rollouts()
      const rollout = listed?.id ?? ''
      const own = rule === null ? 'eve' : `database:${user?.name ?? ''}`
      const { role, domains } = rule ?? { role: 'viewer', domains: ['*'] }
      const line = JSON.stringify([{ role, users: [own], domains }])
      writeFileSync(join(place.root, 'edgewise.yaml'), `${base}\nroles: ${line}\n`)
      const verbs = ['approve', 'pause', 'resume', 'abort'] as const
      const cells = text
        .split('\n')
        .find((each) => each.startsWith(`| ${name} |`))
        ?.split(' | ')
      for (const verb of verbs) {
        const allowed = await attempt(() => here()[verb]({ rollout }))
        expect([name, verb, allowed ? 'yes' : 'no']).toEqual([
          name,
          verb,
          cells?.[1 + actions.indexOf(verb)]?.replace(' |', ''),
        ])
      }
      for (const verb of ['stop', 'resume'] as const) {
        const { err } = await place.cli('rollout', verb, '--all', '--yes')
        expect([name, verb, err.includes('may not') ? 'no' : 'yes']).toEqual([
          name,
          verb,
          cells?.[1 + actions.indexOf(`${verb}-all`)]?.replace(' |', ''),
        ])
      }
      writeFileSync(join(place.root, 'edgewise.yaml'), base)
      await place.cli('rollout', 'resume', '--all', '--yes')
      await attempt(() => here().abort({ rollout }))
    }
  })
})

/** Attempts a decision; returns whether the roles allow it, whatever else it lacks. */
async function attempt(decide: () => Promise<unknown>): Promise<boolean> {
  try {
    await decide()
    return true
  } catch (error) {
    if (!(error instanceof EdgewiseError)) throw error
    return error.code !== 'not-allowed'
  }
}
