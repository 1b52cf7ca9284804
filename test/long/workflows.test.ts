// @module-tag often
// @module-tag nightly
/** The workflows that `edgewise init` writes, with the built action and a code host in memory. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { ActionRunner } from '../action/action-runner.ts'
import { pinnedAction, type Workflow } from '../action/templates.ts'
import { WorkflowRunner, type WorkflowEvent } from '../action/workflow-runner.ts'
import { useRealScrypt } from '../scrypt.ts'
import { Place } from '../steps/cli.ts'

useRealScrypt()

interface Post {
  id: number
  number: number
  body: string
  user: { login: string }
}
const comments: Post[] = []
const issues: Post[] = []
/** Commit of the merged pull request. */
let merged = ''
let server: Server
let action: ActionRunner
let place: Place
let runner: WorkflowRunner
const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: place.root, env, encoding: 'utf8' }).trim()
const env = {
  PATH: process.env['PATH'] ?? '',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.com',
}

/** Answers a call of the API: comments of pull request 7, and issues. */
function answer(method: string, path: string, body: string): unknown {
  if (path.includes('/commits/'))
    return path.includes(merged)
      ? [{ number: 7, merged_at: '2026-11-01T00:00:00Z', merge_commit_sha: merged }]
      : []
  const posts = path.includes('comments') ? comments : issues
  if (method === 'GET') return posts
  const { body: text } = JSON.parse(body) as Post
  const id = method === 'POST' ? posts.length + 1 : Number(path.split('/').at(-1))
  const post = { id, number: id, body: text, user: { login: 'github-actions[bot]' } }
  if (method === 'POST') posts.push(post)
  else posts[id - 1] = post
  return post
}

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () =>
      response.end(JSON.stringify(answer(request.method ?? '', request.url ?? '', body))),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  action = new ActionRunner()
  place = new Place('emulator', '', { state: '' })
  place.env = { ...env }
  place.manifest('www.example.com', { ip_black_list: { list: ['192.0.2.60'] } })
  git('init', '--quiet', '-b', 'trunk')
  git('init', '--quiet', '--bare', '.git/origin.git')
  git('remote', 'add', 'origin', join(place.root, '.git/origin.git'))
  const folder = join(place.root, '.git/checkouts')
  mkdirSync(folder)
  runner = new WorkflowRunner(action, folder, join(place.root, '.git/origin.git'), {
    ...env,
    GITHUB_API_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    GITHUB_REPOSITORY: 'team/cdn',
  })
})
afterAll(() => {
  server.close()
  action.remove()
  rmSync(place.root, { recursive: true })
})

/** Link to the page that the job before has uploaded. */
const pageLink = /\n\[All changes as a page\]\(https:\/\/code-host\.example\/artifacts\/\d+\)\n/

const run = (kind: string, event: WorkflowEvent) =>
  runner.run(parse(place.read(`.github/workflows/edgewise-${kind}.yml`)) as Workflow, event)
const commit = (message: string) => {
  git('add', '.')
  git('commit', '--quiet', '-m', message)
}
/** Pushes the merge of the current files into `trunk` as a pull request, and runs its workflow. */
const propose = async () => {
  git('checkout', '--quiet', '-B', 'change')
  commit('change')
  git('checkout', '--quiet', '--detach', 'trunk')
  git('merge', '--quiet', '--no-ff', '-m', 'merge', 'change')
  git('push', '--quiet', '--force', 'origin', 'HEAD:refs/pull/7/merge')
  const head = git('rev-parse', 'HEAD')
  const ref = 'refs/pull/7/merge'
  return {
    head,
    results: await run('plan', { name: 'pull_request', ref, commit: head, pullRequest: 7 }),
  }
}
const push = async (head: string, kind: string, name: string) => {
  git('push', '--quiet', 'origin', `${head}:refs/heads/trunk`)
  git('checkout', '--quiet', '-B', 'trunk', head)
  return run(kind, { name, ref: 'refs/heads/trunk', commit: head })
}

/** Stops all writes, resumes them, and rolls back, as whoever is on call does. */
async function operateAll(head: string): Promise<void> {
  const operate = (inputs: Record<string, string>, ref = 'refs/heads/trunk') =>
    run('operate', { name: 'workflow_dispatch', ref, commit: head, inputs })
  const [done, failed] = [{ operate: 'done' }, { operate: 'failed' }]
  const reason = 'errors on all domains, see #12'
  const stop = { action: 'stop all writes', id: '', reason }
  expect(await operate(stop, 'refs/heads/other')).toEqual(failed)
  expect(await operate({ ...stop, reason: "' --json" })).toEqual(failed)
  expect(await operate({ ...stop, reason: 'a\nargs=b' })).toEqual(failed)
  expect((await place.json('rollout', 'list'))['stop']).toBeUndefined()
  expect(await operate(stop)).toEqual(done)
  expect((await place.json('rollout', 'list'))['stop']).toMatchObject({ reason })

  const history = (await place.json('state', 'history'))['applies'] as { id: string }[]
  const rollback = { action: 'rollback', id: history.at(-1)?.id ?? '', reason: '' }
  expect(await operate(rollback)).toEqual(failed)
  const resume = { action: 'resume all writes', id: '', reason: '' }
  expect(await operate(resume)).toEqual(done)
  for (const id of ['', '--all', `${rollback.id} --json`])
    expect(await operate({ ...rollback, id })).toEqual(failed)
  expect(await operate(rollback)).toEqual(done)
  // What was rolled back stays on hold.
  expect((await place.json('plan'))['summary']).toMatchObject({ held: 1, domains: 0 })
  expect(await push(head, 'apply', 'workflow_dispatch')).toMatchObject({ apply: 'done' })
  expect((await place.json('plan'))['summary']).toMatchObject({ held: 1, domains: 0 })
}

it('the workflows carry a change from a pull request to the service', async () => {
  const { code } = await place.cli('init', '--ci', 'github', '--action', pinnedAction)
  expect(code).toBe(0)
  commit('first')
  git('push', '--quiet', 'origin', 'trunk')

  place.write('README', 'unrelated')
  // Only the program knows which files belong to the workspace, by the globs of this commit.
  expect((await propose()).results).toEqual({ plan: 'done', comment: 'done' })
  expect(comments.splice(0).map(({ body }) => body)).toEqual([
    expect.stringContaining('Nothing is recorded yet'),
  ])
  git('checkout', '--quiet', 'trunk')

  place.manifest('www.example.com', { ip_black_list: { list: ['192.0.2.90'] } })
  const { head, results } = await propose()
  expect(results).toEqual({ plan: 'done', comment: 'done' })
  expect(comments.map(({ body }) => body)).toEqual([expect.stringContaining('Plan: 1 to set')])
  expect(comments[0]?.body).toMatch(pageLink)

  merged = head
  expect(await push(head, 'apply', 'push')).toEqual({
    plan: 'done',
    apply: 'done',
    comment: 'done',
  })
  expect(comments[1]?.body).toContain('Applied; writes: 1 confirmed.')
  expect(comments[1]?.body).toMatch(pageLink)
  expect(git('ls-remote', 'origin', 'edgewise-state')).not.toBe('')
  expect(await push(head, 'apply', 'workflow_dispatch')).toEqual({ plan: 'done' })
  expect(await push(head, 'drift', 'schedule')).toEqual({ drift: 'done', issue: 'done' })
  expect(issues).toEqual([])

  await operateAll(head)

  // A guard refuses: the apply fails, and its report is published.
  place.manifest('www.example.com', { ip_black_list: { list: ['192.0.2.60'] } })
  place.write('edgewise.yaml', `${place.read('edgewise.yaml')}guards: {protect: ["*"]}\n`)
  commit('protected')
  merged = git('rev-parse', 'HEAD')
  expect(await push(merged, 'apply', 'push')).toEqual({
    plan: 'done',
    apply: 'failed',
    comment: 'done',
  })
  expect(comments[1]?.body).toContain('www.example.com is protected')
  expect(await push(merged, 'drift', 'schedule')).toEqual({ drift: 'done', issue: 'done' })
  expect(issues.map(({ body }) => body)).toEqual([expect.stringContaining('Drift: 1 pending')])
})
