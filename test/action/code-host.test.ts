import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import nock from 'nock'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { keepComment, keepIssue, main } from '../../.github/actions/edgewise/code-host.mts'

const api = 'https://api.code-host.example'
const author = 'github-actions[bot]'
const host = { api, repository: 'team/cdn', token: 'canary-token', author }
const own = { login: author }
const comments = '/repos/team/cdn/issues/7/comments'
const planMark = '<!-- edgewise:plan -->\n'
const driftMark = '<!-- edgewise:drift -->\n'

beforeAll(() => {
  if (!nock.isActive()) nock.activate()
  nock.disableNetConnect()
})
afterAll(() => {
  nock.enableNetConnect()
  nock.restore()
})
afterEach(() => {
  expect(nock.pendingMocks()).toEqual([])
  nock.cleanAll()
})

const service = () =>
  nock(api, {
    reqheaders: { authorization: 'Bearer canary-token', accept: 'application/vnd.github+json' },
  })
const listed = (posts: object[], page = 1) =>
  service().get(comments).query({ per_page: 100, page }).reply(200, posts)
const issues = (posts: object[]) =>
  service()
    .get('/repos/team/cdn/issues')
    .query({ state: 'open', sort: 'created', direction: 'asc', per_page: 100, page: 1 })
    .reply(200, posts)

describe('keepComment', () => {
  it('creates the comment if none exists', async () => {
    listed([{ id: 1, body: 'hello', user: own }])
    service()
      .post(comments, { body: `${planMark}text` })
      .reply(201, {})
    expect(await keepComment(host, 7, 'text')).toBe('created')
  })

  it('updates the comment on any page of the list', async () => {
    listed(Array.from({ length: 100 }, (_, id) => ({ id, body: 'x', user: own })))
    listed([{ id: 500, body: `${planMark}old`, user: own }], 2)
    service()
      .patch('/repos/team/cdn/issues/comments/500', { body: `${planMark}new` })
      .reply(200, {})
    expect(await keepComment(host, 7, 'new')).toBe('updated')
  })

  it('leaves a comment with the same text unchanged', async () => {
    listed([{ id: 5, body: `${planMark}same`, user: own }])
    expect(await keepComment(host, 7, 'same')).toBe('unchanged')
  })

  it('never updates a comment of another account, even with the mark', async () => {
    listed([
      { id: 1, body: `${planMark}mine`, user: { login: 'somebody' } },
      { id: 2, body: `${planMark}gone`, user: null },
      { id: 3, body: null, user: own },
      { id: 4, body: `quoted ${planMark}`, user: own },
    ])
    service().post(comments).reply(201, {})
    expect(await keepComment(host, 7, 'text')).toBe('created')
  })

  it('truncates a comment to the length limit', async () => {
    listed([])
    service()
      .post(comments, ({ body }: { body: string }) => body.length === 65_535)
      .reply(201, {})
    expect(await keepComment(host, 7, 'x'.repeat(100_000))).toBe('created')
  })
})

describe('keepIssue', () => {
  const issue = { id: 9, number: 3, body: `${driftMark}old`, user: own }

  it('opens an issue on drift', async () => {
    issues([{ id: 1, number: 1, body: `${driftMark}x`, user: { login: 'somebody' } }])
    service()
      .post('/repos/team/cdn/issues', { title: 'Configuration drift', body: `${driftMark}text` })
      .reply(201, {})
    expect(await keepIssue(host, true, 'text')).toBe('opened')
  })

  it('updates the oldest issue while there is drift', async () => {
    issues([{ ...issue, number: 2, pull_request: {} }, issue, { ...issue, number: 4 }])
    service()
      .patch('/repos/team/cdn/issues/3', { body: `${driftMark}new` })
      .reply(200, {})
    expect(await keepIssue(host, true, 'new')).toBe('updated')
    issues([issue])
    expect(await keepIssue(host, true, 'old')).toBe('unchanged')
  })

  it('closes the issue without drift, and opens none', async () => {
    issues([issue])
    service()
      .patch('/repos/team/cdn/issues/3', {
        body: `${driftMark}none`,
        state: 'closed',
        state_reason: 'completed',
      })
      .reply(200, {})
    expect(await keepIssue(host, false, 'none')).toBe('closed')
    issues([])
    expect(await keepIssue(host, false, 'none')).toBe('unchanged')
  })
})

describe('failures', () => {
  const failure = (act: () => Promise<unknown>) =>
    act().then(
      () => 'no failure',
      (error: Error) => error.message,
    )

  it('contain neither the token nor the response body', async () => {
    service().get(comments).query(true).reply(403, { message: 'canary-token is not allowed' })
    const message = await failure(() => keepComment(host, 7, 'x'))
    expect(message).toMatch(
      /^GET team\/cdn\/issues\/7\/comments\S* failed with HTTP 403\. Check the write permission/,
    )
    expect(message).not.toContain('canary')
  })

  it('include a response of an unexpected shape', async () => {
    service().get(comments).query(true).reply(200, { message: 'moved' })
    expect(await failure(() => keepComment(host, 7, 'x'))).toContain('expected a list')
  })

  it('include a redirect: the token is sent to no other host', async () => {
    const asked: string[] = []
    service().get(comments).query(true).reply(302, '', { location: 'https://elsewhere.example/' })
    nock('https://elsewhere.example')
      .get('/')
      .optionally()
      .reply(200, () => asked.push('elsewhere') && [])
    expect(await failure(() => keepComment(host, 7, 'x'))).not.toBe('no failure')
    expect(asked).toEqual([])
  })
})

describe('main', () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-action-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const report = join(folder, 'edgewise.md')
  writeFileSync(report, 'text')
  const env = {
    GITHUB_API_URL: api,
    GITHUB_REPOSITORY: 'team/cdn',
    CODE_HOST_TOKEN: 'canary-token',
    AUTHOR: author,
    REPORT: report,
    COMMAND: 'comment',
    PULL_REQUEST: '7',
  }

  it('reads its input from the environment of the action', async () => {
    listed([])
    service()
      .post(comments, { body: `${planMark}text` })
      .reply(201, {})
    expect(await main(env)).toBe('comment created')
    issues([])
    expect(await main({ ...env, COMMAND: 'issue', DIFFERS: 'false' })).toBe('issue unchanged')
  })

  it.each<[Record<string, string>, string]>([
    [{ CODE_HOST_TOKEN: '' }, 'expected CODE_HOST_TOKEN to be set'],
    [{ PULL_REQUEST: '' }, 'expected PULL_REQUEST to be set'],
    [{ PULL_REQUEST: '7/../8' }, 'expected the number of a pull request, got "7/../8"'],
    [{ COMMAND: 'issue', DIFFERS: 'maybe' }, 'expected DIFFERS to be true or false, got "maybe"'],
    [{ REPORT: join(folder, 'none.md') }, 'ENOENT'],
  ])('refuses %j', async (changed, why) => {
    await expect(main({ ...env, ...changed })).rejects.toThrow(why)
  })
})
