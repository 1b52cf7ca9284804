import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import nock from 'nock'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { findMergedPullRequest, keepComment, keepIssue } from '../../src/cli/action/code-host.ts'
import { readInputs } from '../../src/cli/action/inputs.ts'
import { publishComment, publishIssue } from '../../src/cli/action/run-action.ts'

const api = 'https://api.code-host.example'
const author = 'github-actions[bot]'
const host = { api, repository: 'team/cdn', token: 'canary-token', author, workflow: '' }
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

describe('the report of an apply', () => {
  const report = '### Edgewise apply\n\nApplied'

  it('has a comment of its own beside that of the plan', async () => {
    listed([{ id: 1, body: `${planMark}plan`, user: own }])
    service()
      .post(comments, { body: `<!-- edgewise:apply -->\n${report}` })
      .reply(201, {})
    expect(await keepComment(host, 7, report)).toBe('created')
  })

  const commit = '0123456789abcdef0123456789abcdef01234567'
  const found = (pulls: unknown) =>
    service()
      .get(`/repos/team/cdn/commits/${commit}/pulls`)
      .query(true)
      .reply(200, pulls as [])
  const merged = { merged_at: '2026-03-01T00:00:00Z', merge_commit_sha: 'other' }

  it('goes to the merged pull request of the commit', async () => {
    found([
      { ...merged, number: 5, merged_at: null },
      { ...merged, number: 6 },
      { ...merged, number: 7, merge_commit_sha: commit },
    ])
    expect(await findMergedPullRequest(host, commit)).toBe(7)
    found([
      { ...merged, number: 5, merged_at: null },
      { ...merged, number: 6 },
    ])
    expect(await findMergedPullRequest(host, commit)).toBe(6)
    found([{ ...merged, number: 5, merged_at: null }])
    expect(await findMergedPullRequest(host, commit)).toBeNull()
    found({ message: 'moved' })
    await expect(findMergedPullRequest(host, commit)).rejects.toThrow('expected a list')
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

describe('several workflows of a repository', () => {
  const other = { ...host, workflow: 'edgewise-shop plan -->' }
  const otherMark = (kind: string) => `<!-- edgewise:${kind} edgewise-shop%20plan%20--%3E -->\n`

  it('have a comment and an issue each: none replaces that of another workspace', async () => {
    listed([{ id: 1, body: `${planMark}text`, user: own }])
    service()
      .post(comments, { body: `${otherMark('plan')}text` })
      .reply(201, {})
    expect(await keepComment(other, 7, 'text')).toBe('created')
    issues([{ id: 9, number: 3, body: `${driftMark}old`, user: own }])
    expect(await keepIssue(other, false, 'none')).toBe('unchanged')
    listed([{ id: 1, body: `${otherMark('plan')}text`, user: own }])
    expect(await keepComment(other, 7, 'text')).toBe('unchanged')
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

describe('publishing', () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-action-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const report = join(folder, 'edgewise.md')
  writeFileSync(report, 'text')
  const commit = '0123456789abcdef0123456789abcdef01234567'
  const env = {
    GITHUB_API_URL: api,
    GITHUB_REPOSITORY: 'team/cdn',
    GITHUB_SHA: commit,
    GITHUB_EVENT_NAME: 'push',
    'INPUT_CODE-HOST-TOKEN': 'canary-token',
    INPUT_AUTHOR: author,
    INPUT_REPORT: report,
    'INPUT_PULL-REQUEST': '7',
  }
  const inPullRequest = { GITHUB_EVENT_NAME: 'pull_request' }
  const comment = (changed: Record<string, string> = {}) =>
    publishComment(readInputs({ ...env, ...changed }), { ...env, ...changed })
  const issue = (differs: string, changed: Record<string, string> = {}) =>
    publishIssue(readInputs({ ...env, INPUT_DIFFERS: differs, ...changed }), env)

  it('writes a comment and an issue with the inputs of the action', async () => {
    listed([])
    service()
      .post(comments, { body: `${planMark}text` })
      .reply(201, {})
    expect(await comment()).toEqual({ text: 'comment created', isWarning: false })
    issues([])
    expect(await issue('false')).toEqual({ text: 'issue unchanged', isWarning: false })
  })

  it('links to the page in a comment and in an issue, and never to a hostile address', async () => {
    const page = { 'INPUT_PAGE-URL': ' https://code-host.example/artifacts/1\n' }
    const body = 'text\n\n[All changes as a page](https://code-host.example/artifacts/1)\n'
    listed([])
    service()
      .post(comments, { body: `${planMark}${body}` })
      .reply(201, {})
    expect(await comment(page)).toMatchObject({ text: 'comment created' })
    issues([])
    service()
      .post('/repos/team/cdn/issues', { title: 'Configuration drift', body: `${driftMark}${body}` })
      .reply(201, {})
    expect(await issue('true', page)).toMatchObject({ text: 'issue opened' })
    const hostile = { 'INPUT_PAGE-URL': 'javascript:alert(1)' }
    await expect(comment(hostile)).rejects.toThrow('to be an HTTPS address')
    await expect(issue('true', hostile)).rejects.toThrow('to be an HTTPS address')
  })

  it('finds the pull request of the commit if the event has none', async () => {
    const pulls = `/repos/team/cdn/commits/${commit}/pulls`
    const merged = { number: 7, merged_at: '2026-03-01T00:00:00Z', merge_commit_sha: commit }
    service().get(pulls).query(true).reply(200, [merged])
    listed([{ id: 5, body: `${planMark}text`, user: own }])
    const given = { 'INPUT_PULL-REQUEST': '' }
    expect(await comment(given)).toEqual({ text: 'comment unchanged', isWarning: false })
    service().get(pulls).query(true).reply(200, [])
    expect(await comment(given)).toEqual({
      text: 'no comment: no merged pull request has this commit',
      isWarning: false,
    })
  })

  it('only warns for a pull request whose token may not write', async () => {
    listed([])
    service().post(comments).reply(403, { message: 'not accessible' })
    const forbidden = await comment(inPullRequest)
    expect([forbidden.isWarning, forbidden.text]).toEqual([
      true,
      expect.stringMatching(
        /^no comment: POST .* failed with HTTP 403.* in the summary of the job/,
      ),
    ])
    expect(await comment({ ...inPullRequest, 'INPUT_CODE-HOST-TOKEN': '' })).toMatchObject({
      isWarning: true,
    })
    listed([])
    service().post(comments).reply(500)
    await expect(comment(inPullRequest)).rejects.toThrow('HTTP 500')
    listed([])
    service().post(comments).reply(403)
    await expect(comment()).rejects.toThrow('HTTP 403. Check the write permission')
  })

  it.each<[Record<string, string>, string]>([
    [{ 'INPUT_CODE-HOST-TOKEN': '' }, 'the input "code-host-token" is empty'],
    [{ INPUT_AUTHOR: ' ' }, 'the input "author" is empty'],
    [{ GITHUB_API_URL: '' }, 'expected GITHUB_API_URL to be set'],
    [{ 'INPUT_PULL-REQUEST': '', GITHUB_SHA: '../7' }, 'expected GITHUB_SHA to be a commit'],
    [{ 'INPUT_PULL-REQUEST': '7/../8' }, 'to be the number of a pull request, got "7/../8"'],
    [{ INPUT_REPORT: join(folder, 'none.md') }, 'ENOENT'],
  ])('refuses %j', async (changed, why) => {
    await expect(comment(changed)).rejects.toThrow(why)
  })

  it('refuses an issue without the output differs', async () => {
    await expect(issue('maybe')).rejects.toThrow('"differs" to be true or false, got "maybe"')
  })
})
