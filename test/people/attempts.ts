import type { DecisionName } from '../../src/server/controller.ts'
import { identify } from '../../src/core/model/people/identity.ts'
import type { Action, RoleRule } from '../../src/core/model/people/roles.ts'
import type { Rollout } from '../../src/core/model/rollout.ts'
import { abort, approve, pause, resume } from '../../src/engine/rollout/decide.ts'
import {
  createRefusal,
  explainDecision,
  weighDecision,
} from '../../src/operations/people/decide.ts'
import { createRefusalLog } from '../../src/server/people/refusal-log.ts'
import { openPeople } from '../../src/server/people/people.ts'
import { apiToken, createOptions, startHttp, type HttpStage } from '../server/http-stage.ts'
import { buildOverview, createPages, openRollout } from '../server/page-stage.ts'

/** Roles of the table: name, and what the workspace file has for it. */
export const rows: [name: string, rule: Pick<RoleRule, 'role' | 'domains'> | null][] = [
  ['no role', null],
  ['viewer', { role: 'viewer', domains: ['*'] }],
  ['approver', { role: 'approver', domains: ['*'] }],
  ['approver of a part of the domains', { role: 'approver', domains: ['*1.example.com'] }],
  ['approver of other domains', { role: 'approver', domains: ['*.video.example.com'] }],
  ['operator', { role: 'operator', domains: ['*'] }],
  ['operator of a part of the domains', { role: 'operator', domains: ['*1.example.com'] }],
  ['operator of other domains', { role: 'operator', domains: ['*.video.example.com'] }],
]

const by = { author: 'somebody', at: '2026-01-02T03:00:00.000Z' }

/** Role of the group `bosses`, so that there are roles whatever a row has. */
export const bosses: RoleRule = { role: 'operator', users: [], groups: ['bosses'], domains: ['*'] }

/** Starts a server with some roles, by the headers of a proxy and by tokens of jobs. */
export async function startWithRoles(roles: RoleRule[], own: Partial<Rollout> = {}) {
  const auth = { provider: null, ci: [], variables: [] }
  const proxy = { from: ['127.0.0.0/8'], user: 'X-User', groups: 'X-Groups' }
  const ports = { clock: { now: () => 0, monotonic: () => 0 }, env: {}, onFault: () => undefined }
  const opened = await openPeople({ ...auth, proxy }, ports)
  // What verifies tokens of jobs has tests of its own.
  const people = {
    ...opened,
    identifyJob: async (token: string) => (token.startsWith('job-') ? identify('ci', token) : null),
  }
  const rules = {
    sets: [{ roles, needs: { by: 1, notAuthor: false } }],
    authors: 'nobody knows them',
  }
  const open = openRollout(own)
  const { options } = createOptions()
  const { logger, metrics } = options.controller
  const log: string[] = []
  const refusals = createRefusalLog({ ...logger, warn: (text) => log.push(text) }, metrics)
  const http = await startHttp(
    {
      noteRefusal: refusals.record,
      refuse: async (identity, action, id) => {
        const about = id === 'r1' ? open.rollout : null
        const refusal = explainDecision(identity, action, about, rules)
        if (refusal === null) return
        refusals.record(identity, action, id, refusal)
        throw createRefusal(refusal)
      },
      pages: createPages({ overview: async () => buildOverview({ rollouts: [open] }) }),
      rights: {
        findRules: async () => rules,
        findRulesFor: async () => rules,
        explain: async (identity, action, rollout) =>
          explainDecision(identity, action, rollout, rules),
      },
      decide: (verb, id, identity) =>
        refusals.note(identity, verb, id, async () => {
          const weight = weighDecision(identity, verb, open.rollout, rules)
          return { approve, pause, resume, abort }[verb](open.rollout, by, weight)
        }),
      decideAll: async () => {
        const account = 'main'
        return { account, decision: 'resumed', stop: null, store: 'postgres', lookSeconds: 2 }
      },
    },
    { people },
  )
  return { http, log }
}

/** Returns the path of an action below `/api` or among the pages. */
function findPath(action: Exclude<Action, 'view'>): string {
  if (action === 'stop-all' || action === 'resume-all')
    return `/rollouts/all/${action.replace('-all', '')}`
  return `/rollouts/r1/${action satisfies DecisionName}`
}

/** Attempts an action by the API, as a job; returns whether it is allowed. */
export async function attemptByApi(
  { url }: HttpStage,
  action: Action,
  token: string,
): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}` }
  const answer =
    action === 'view'
      ? await fetch(`${url}/api/status`, { headers })
      : await fetch(`${url}/api${findPath(action)}`, { method: 'POST', headers })
  return isAllowed(answer, [200, 409])
}

/** Attempts an action by a form of a page, as a person; returns whether it is allowed. */
export async function attemptByPage(
  { url }: HttpStage,
  action: Action,
  group: string,
): Promise<boolean> {
  const headers = { 'x-user': 'ada', 'x-groups': group }
  if (action === 'view') return isAllowed(await fetch(`${url}/`, { headers }), [200])
  const path = findPath(action)
  const page = await (await fetch(`${url}/`, { headers })).text()
  // A page without any form has no token: that of the same user in a group with more rights has.
  const boss = { headers: { ...headers, 'x-groups': 'bosses' } }
  const full = await (await fetch(`${url}/`, boss)).text()
  const token = /name="token" value="([^"]*)"/.exec(full)?.[1] ?? ''
  if (token === '') throw new Error('a page has no token of its forms')
  const button = page.includes(`action="${path}"`) || page.includes(`href="${path}"`)
  const body = new URLSearchParams({ step: 'x', token })
  const init = { method: 'POST', headers, body, redirect: 'manual' } as const
  const answer = await fetch(url + path, init)
  const allowed = isAllowed(answer, [303, 409])
  if ((await answer.text()).includes('another session')) throw new Error('the form is refused')
  const isShown = page.includes(`id="why${path.replaceAll(/[^\w-]/g, '-')}"`)
  if (page.includes('data-rollout') && !allowed && button)
    throw new Error(`a page offers ${action}, which is refused`)
  if (allowed && isShown) throw new Error(`a page shows ${action} as refused, which is allowed`)
  return allowed
}

function isAllowed({ status }: Response, allowed: number[]): boolean {
  if (status === 403) return false
  if (allowed.includes(status)) return true
  throw new Error(`got the status ${status}`)
}

export const token = apiToken
