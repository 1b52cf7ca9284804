import { afterEach, describe, expect, it } from 'vitest'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import type { FoundStop } from '../../src/core/model/listed-rollout.ts'
import type { Rollout } from '../../src/core/model/rollout.ts'
import { buildApplied } from '../state/store-contract.ts'
import { apiToken, closeHttp, startHttp } from './http-stage.ts'
import type { Overview } from '../../src/core/model/listed-rollout.ts'
import type { Act } from '../../src/core/model/applied.ts'
import { buildOverview, createPages, headCommit, openRollout, waiting } from './page-stage.ts'
import { visit } from './page-visit.ts'

afterEach(closeHttp)

const authorization = `Bearer ${apiToken}`

describe('pages', () => {
  it.each([
    ['/', 'Wave 2 of 3 waits for approval: 5 domains.'],
    ['/plan', '20 changes on 12 domains'],
    ['/drift', 'is too large for other replicas than the leader that made it.'],
    ['/rollouts', '1 unfinished rollout.'],
    ['/rollouts/r1', 'Wave 1: healthy'],
    ['/rollouts/r1/abort', 'Abort the rollout? 30 domains would be on hold.'],
  ])('%s', async (path, sentence) => {
    const http = await startHttp()
    const { get } = await visit(http)
    const answer = await get(path)
    const html = await answer.text()
    expect(answer.status).toBe(200)
    expect(html).toContain(sentence)
    expect(html.match(/aria-current="page"/g)).toHaveLength(1)
    expect(html).not.toContain(apiToken)
    const bearer = await fetch(http.url + path, { headers: { authorization } })
    expect([bearer.status, (await bearer.text()).includes(sentence)]).toEqual([200, true])
    const head = await fetch(http.url + path, { method: 'HEAD', headers: { authorization } })
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect(http.calls).toEqual([])
  })

  it('lead from names of domains, rollouts and applies to their pages', async () => {
    // The clock of the server is before it.
    const at = '2999-01-01T00:00:00.000Z'
    const act = { at, kind: 'approval', outcome: 'approved', reason: null, commit: null } as const
    const by = { name: 'ada', knownBy: 'oidc' } as const
    const acts = ['r1', 'r0'].map((about) => ({ ...act, about, by }) as unknown as Act)
    const drift = { at, pending: 0, live: 1, inDoubt: 0, unanswered: 0 }
    const overview = async () => ({ ...waiting(), drift, recent: { newest: 2, acts, applies: [] } })
    const http = await startHttp({ pages: createPages({ overview }) })
    const { get } = await visit(http)
    const lately = (await (await get('/')).text()).split('The last day')[1] ?? ''
    expect(lately).toContain('<a href="/rollouts/r1">approval r1: approved</a>')
    // There is no page of it.
    expect(lately).toContain(' approval r0: approved<')
    expect(lately).toContain('<a href="/drift">Last drift check: 1 item')
    const rollout = await (await get('/rollouts/r1')).text()
    expect(rollout).toContain('<span><a href="/domains/shop-0.example.com">shop-0.example.com</a>')
  })

  it('say of a rollout that has ended what to do next, as the overview does', async () => {
    const at = '2026-01-02T03:00:00.000Z'
    const { rollout } = openRollout({ state: 'stopped', reason: '5xx rose', endedAt: at })
    const worse =
      '2 domains worse by rollout r1, stopped: 5xx rose. "edgewise rollback r1" rolls back'
    const show = async (own: Partial<Rollout>, left: string[]) => {
      const applied = { commit: headCommit, at, status: 'done', message: null, left }
      const overview = async () => buildOverview({ applied, ended: [{ ...rollout, ...own }] })
      const { get } = await visit(await startHttp({ pages: createPages({ overview }) }))
      const pages = ['/', '/rollouts/r1'].map(async (path) => (await get(path)).text())
      return (await Promise.all(pages)).map((html) => html.replaceAll('&quot;', '"'))
    }
    for (const html of await show({}, ['another of rollout r2', worse]))
      expect(html).toContain(worse)
    expect((await show({}, ['another of rollout r2']))[1]).toContain('<p class="note">5xx rose</p>')
    const onHold = { 'shop-0.example.com': { https: 'h' } }
    expect((await show({ onHold }, []))[1]).toContain(
      '5xx rose. Change the manifests, or send the values again: ' +
        '<code>edgewise apply --retry-held</code>',
    )
  })

  it('have each apply of the last day with how it ended itself', async () => {
    const at = '2999-01-01T00:00:00.000Z'
    const { rollout } = openRollout({ state: 'rolled-back', reason: '5xx rose', endedAt: at })
    const apply = buildApplied('r1-w1', { startedAt: at, endedAt: at, outcome: 'complete' })
    const recent = { newest: 1, acts: [], applies: [apply] }
    const overview = async () => buildOverview({ ended: [rollout], recent })
    const { get } = await visit(await startHttp({ pages: createPages({ overview }) }))
    const lately = (await (await get('/')).text()).split('The last day')[1] ?? ''
    expect(lately).toContain('">apply r1-w1: complete</a>')
    expect(lately).toContain('">rollout r1: rolled back (5xx rose)</a>')
  })

  it('come with a strict policy, also those without a session', async () => {
    const http = await startHttp()
    const { get } = await visit(http)
    const outside = await fetch(http.url)
    for (const answer of [await get('/'), await get('/plan'), await get('/rollouts/x'), outside]) {
      const policy = answer.headers.get('content-security-policy') ?? ''
      expect(policy).toMatch(/^default-src 'none'; style-src( 'sha256-[\w+/=]{44}'){2};/)
      expect(policy).toMatch(/; script-src 'sha256-[\w+/=]{44}'; base-uri 'none'; img-src data:;/)
      const rest = "connect-src 'self'; form-action 'self'; frame-ancestors 'none'"
      expect(policy.endsWith(rest)).toBe(true)
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'cache-control': 'no-store',
        'content-type': 'text/html; charset=utf-8',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      })
      expect(await answer.text()).not.toContain('Content-Security-Policy')
    }
  })

  it.each([
    '/rollouts/',
    '/rollouts/r2',
    '/rollouts/R1',
    '/rollouts/r1/approve',
    '/rollouts/r1/abort/x',
  ])('there is no %s', async (path) => {
    const { get } = await visit(await startHttp())
    expect([(await get(path)).status]).toEqual([404])
  })

  it('/live has a revision for each page, which changes with what it shows', async () => {
    let overview = waiting()
    const http = await startHttp({ pages: createPages({ overview: async () => overview }) })
    const { get } = await visit(http)
    const read = async () => {
      const { revisions } = (await (await get('/live')).json()) as {
        revisions: Record<string, string>
      }
      return revisions
    }
    const first = await read()
    expect(Object.keys(first)).toEqual(['overview', 'plan', 'drift'])
    expect(await (await get('/')).text()).toContain(`data-revision="${first['overview']}"`)
    overview = { ...overview, fetchedAt: '2026-01-02T03:01:00.000Z' }
    expect(await read()).toEqual(first)
    overview = { ...overview, problem: 'the repository is away' }
    expect(await read()).toEqual({
      ...first,
      overview: expect.not.stringMatching(`${first['overview']}`),
    })
    overview = { ...waiting(), rollouts: [openRollout({ paused: { author: 'ada', at: 'now' } })] }
    const paused = await read()
    expect([paused['overview'] === first['overview'], paused['plan'] === first['plan']]).toEqual([
      false,
      false,
    ])
    overview = { ...waiting(), drift: null }
    expect((await read())['drift']).not.toBe(first['drift'])
    expect(JSON.stringify(await (await get('/live')).json())).not.toContain('example.com')
  })

  it('a plan that takes long is announced', async () => {
    const pages = createPages({ plan: () => new Promise(() => undefined) })
    const { get } = await visit(await startHttp({ pages }))
    const answer = await get('/plan')
    expect([answer.status, answer.headers.get('refresh')]).toEqual([202, '3'])
    expect(await answer.text()).toContain('The plan is being made')
  })

  it('a check whose page is too large is said to be elsewhere', async () => {
    const show = async (drift: Overview['drift']) => {
      const overview = async () => buildOverview({ drift })
      const { get } = await visit(await startHttp({ pages: createPages({ overview }) }))
      return (await get('/drift')).text()
    }
    expect(await show(null)).toContain('Drift was not looked for yet.')
    expect(await show(buildOverview().drift)).toContain('too large for other replicas')
  })

  it('errors are pages, with their status and without secrets', async () => {
    const fail = (error: Error) => async () => {
      throw error
    }
    const pages = createPages({
      plan: fail(new EdgewiseError('invalid', 'the s3cret is <b>wrong</b>', 'Hide the s3cret.')),
      overview: fail(new EdgewiseError('unavailable', 'the database is away')),
    })
    const http = await startHttp({ pages })
    http.setHide((text) => text.replaceAll('s3cret', '***'))
    const { get } = await visit(http)
    const away = await get('/')
    expect([away.status, await away.text()]).toEqual([
      503,
      expect.stringContaining('the database is away'),
    ])
    expect((await get('/live')).headers.get('content-type')).toContain('application/json')
    const broken = await startHttp({
      pages: createPages({
        plan: pages.plan,
        drift: () => {
          throw new TypeError('a detail')
        },
      }),
    })
    broken.setHide((text) => text.replaceAll('s3cret', '***'))
    const other = await visit(broken)
    const invalid = await other.get('/plan')
    const html = await invalid.text()
    expect(invalid.status).toBe(409)
    expect(html).toContain('the *** is &lt;b&gt;wrong&lt;/b&gt;')
    expect(html).toContain('Hide the ***.')
    const defect = await other.get('/drift')
    const shown = await defect.text()
    expect([defect.status, shown.includes('defect-1'), shown.includes('a detail')]).toEqual([
      500,
      true,
      false,
    ])
    expect(await broken.count('errors_total', 'defect')).toBe(1)
  })

  it('hostile names are texts', async () => {
    const attack = `"'><script>alert(1)</script>\u202e`
    const id = 'r<1>"/..'
    const hostile = openRollout({ id, author: attack, commit: attack, applies: [attack] })
    for (const wave of hostile.rollout.waves) wave.domains = [attack]
    const ended = [{ ...hostile.rollout, state: 'stopped' as const, reason: attack }]
    const overview = async () =>
      buildOverview({
        workspace: attack,
        branch: { location: attack, name: attack },
        commit: attack,
        problem: attack,
        applied: { commit: attack, at: attack, status: attack, message: attack },
        rollouts: [hostile],
        ended,
      })
    const { get } = await visit(await startHttp({ pages: createPages({ overview }) }))
    const path = `/rollouts/${encodeURIComponent(id)}`
    for (const page of ['/', '/rollouts', path, `${path}/abort`, '/drift']) {
      const answer = await get(page)
      const html = await answer.text()
      expect([page, answer.status]).toEqual([page, 200])
      expect(html).not.toMatch(/<script>alert|"'>|\u202e/)
      if (page !== '/drift') expect(html).toContain('&lt;1&gt;')
    }
  })
})

describe('a decision in the browser', () => {
  it.each([
    ['approve', '/', true],
    ['pause', '/', false],
    ['abort', '/rollouts/r1/abort', true],
  ])('%s is made with the form, and shown once', async (verb, page, hasStep) => {
    const http = await startHttp()
    const browser = await visit(http)
    const form = await browser.readForm(page, `/rollouts/r1/${verb}`)
    const { step } = openRollout()
    expect(form['step']).toBe(step)
    const answer = await browser.post(`/rollouts/r1/${verb}`, form, { origin: http.url })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/'])
    expect(http.calls).toEqual([hasStep ? `${verb} r1 ${step}` : `${verb} r1`])
    const [notice = ''] = answer.headers.getSetCookie()
    expect(notice).toMatch(/Max-Age=60; HttpOnly; SameSite=Strict/)
    browser.addCookie(notice.split(';')[0] ?? '')
    const shown = await browser.get('/')
    expect(await shown.text()).toContain('Approved wave 1 of 1 of rollout r1 (1 domain).')
    expect(shown.headers.getSetCookie()[0]).toContain('_notice=; Path=/; Max-Age=0')
  })

  it('stops all writes with the form, and resumes the stop that was shown', async () => {
    const stop = { author: 'ada', knownBy: 'serve' as const, at: '2026-11-20T12:00:00.000Z' }
    const shown: { stop: FoundStop | null } = { stop: null }
    const overview = async () => buildOverview(shown)
    const http = await startHttp({ pages: createPages({ overview }) })
    const browser = await visit(http)
    const path = '/rollouts/all'
    const form = await browser.readForm('/', `${path}/stop`)
    const { status } = await browser.post(`${path}/stop`, { ...form, reason: '5xx' })
    expect(status).toBe(303)
    shown.stop = { ...stop, reason: '<b>5xx</b>' }
    const html = await (await browser.get('/')).text()
    expect(html).toContain(
      'writes of the account were stopped by edgewise serve (ada) at ' +
        '2026-11-20T12:00:00Z: &lt;b&gt;5xx&lt;/b&gt;.',
    )
    expect(html).not.toContain(`${path}/stop"`)
    const other = await browser.readForm('/', `${path}/resume`)
    await browser.post(`${path}/resume`, other)
    expect((await browser.post(`${path}/resume`, { step: stop.at })).status).toBe(403)
    expect((await browser.post(`${path}/abort`, other)).status).toBe(404)
    shown.stop = { fault: 'it is not JSON' }
    expect(await (await browser.get('/')).text()).toContain('Nothing of the account is sent, since')
    expect(http.calls).toEqual(['stop all 5xx', `resume all ${stop.at}`])
  })

  it('shows no notice that it has not written', async () => {
    const browser = await visit(await startHttp())
    const [name] = browser.getCookie().split('=')
    browser.addCookie(`${name}_notice=${Buffer.from('All is well').toString('base64url')}.x`)
    expect(await (await browser.get('/')).text()).not.toContain('All is well')
  })

  it('needs the session, its token, the step, and this site', async () => {
    const http = await startHttp()
    const browser = await visit(http)
    const form = await browser.readForm('/', '/rollouts/r1/approve')
    const { step = '', token = '' } = form
    const path = '/rollouts/r1/approve'
    const post = async (fields: Record<string, string>, headers?: Record<string, string>) =>
      (await browser.post(path, fields, headers)).status
    expect(await post({ step })).toBe(403)
    expect(await post({ step, token: `${token}x` })).toBe(403)
    expect(await post({ token })).toBe(400)
    expect(await post(form, { 'content-type': 'text/plain' })).toBe(400)
    expect(await post(form, { origin: 'https://evil.example.com' })).toBe(403)
    expect(await post(form, { origin: 'null' })).toBe(403)
    expect(await post(form, { 'sec-fetch-site': 'same-site' })).toBe(403)
    expect(await post(form, { cookie: '' })).toBe(401)
    expect((await browser.post('/rollouts/r2/approve', form)).status).toBe(404)
    expect((await browser.post('/rollouts/r1/toString', form)).status).toBe(404)
    expect(http.calls).toEqual([])
  })

  it('with the token of the server needs the step only', async () => {
    const http = await startHttp()
    const body = new URLSearchParams({ step: 'seen' })
    const headers = { authorization }
    const answer = await fetch(`${http.url}/rollouts/r1/approve`, {
      method: 'POST',
      body,
      headers,
      redirect: 'manual',
    })
    expect([answer.status, http.calls]).toEqual([303, ['approve r1 seen']])
  })

  it('explains why it is not possible', async () => {
    const error = new EdgewiseError('locked', 'another process has the lock', 'Wait.')
    const http = await startHttp({ decide: () => Promise.reject(error) })
    const browser = await visit(http)
    const form = await browser.readForm('/', '/rollouts/r1/pause')
    const answer = await browser.post('/rollouts/r1/pause', form)
    expect(answer.status).toBe(409)
    expect(await answer.text()).toContain('another process has the lock')
  })

  it('is not offered while a rollback is unfinished', async () => {
    const overview = async () =>
      buildOverview({ rollouts: [openRollout({ state: 'rolling-back' })] })
    const { get } = await visit(await startHttp({ pages: createPages({ overview }) }))
    expect(await (await get('/')).text()).not.toMatch(/\/rollouts\/r1\/(approve|pause|abort)/)
    expect((await get('/rollouts/r1/abort')).status).toBe(409)
  })
})
