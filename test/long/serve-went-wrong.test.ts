// @module-tag often
// @module-tag nightly

import { execFileSync } from 'node:child_process'
import { afterEach, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/model/json.ts'
import { serveToken, type Replica } from '../server/replica.ts'
import { commit, enterServed, setServeStage, start, until } from '../server/serve-stage.ts'
import { setFaults } from '../steps/cli.ts'
import { deadOrigin, emulator, place, setStageInTime, time } from '../steps/stage.ts'

setStageInTime()
setServeStage()

const hour = 3_600_000
const ids = [0, 1, 2, 3]
const name = (i: number) => `d${i}.example.com`
let ticking: ReturnType<typeof setInterval> | undefined

afterEach(() => clearInterval(ticking))

/** Commits all as somebody. */
function commitAs(author: string, subject: string): void {
  commit()
  const env = { ...process.env, GIT_COMMITTER_NAME: 'ci', GIT_COMMITTER_EMAIL: 'ci@example.com' }
  const about = ['--author', `${author} <a@example.com>`, '--message', subject]
  execFileSync('git', ['commit', '--quiet', '--amend', ...about], { cwd: place.root, env })
}

/** Reads a page without its markup. */
async function read({ url }: Replica, path: string): Promise<string> {
  const answer = await fetch(url + path, { headers: { Authorization: `Bearer ${serveToken}` } })
  const html = (await answer.text()).replaceAll(
    /<(?:script|style)[^>]*>.*?<\/(?:script|style)>/gs,
    '',
  )
  const text = html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
  return text.replaceAll(/\s+/g, ' ')
}

/** Expects texts on a page, in this order. */
async function expectOn(replica: Replica, path: string, ...texts: (string | RegExp)[]) {
  let rest = await read(replica, path)
  for (const text of texts) {
    const found = rest.search(
      typeof text === 'string' ? text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`) : text,
    )
    expect([path, text, found >= 0 ? 'found' : rest]).toEqual([path, text, 'found'])
    rest = rest.slice(found)
  }
}

it('after a rollback and a refusal, each replica says what, where, why and by whom', async () => {
  const health = '{onFailure: rollback, grain: hour, window: 1h}'
  enterServed(`rollout: {waves: [2, 100%], pause: 1m, health: ${health}}\n`)
  for (const i of ids) place.manifest(name(i), { origin: { default_master: '192.0.2.10' } })
  time.now = Date.now() - 7 * hour
  expect((await place.cli('apply', '--yes', '--no-waves')).code).toBe(0)
  for (const i of ids) place.manifest(name(i), { origin: { default_master: deadOrigin } })
  commitAs('Ada Example', 'Move to the new pool')
  time.now = Date.now() - 4 * hour
  expect((await place.cli('apply', '--yes', '--no-wait')).out).toContain('writes: 1 confirmed')
  const [open] = (await place.json('rollout', 'list'))['rollouts'] as JsonObject[]
  const id = String(open?.['id'])
  const set = () => {
    time.now = Date.now()
  }
  set()
  ticking = setInterval(set, 20)
  const replicas = [await start(), await start()] as const
  await until(async () => (await read(replicas[0], '/')).includes('rolled back'))
  const rose = /wave 1 of 2: 5xx rose on 2 of 2 domains: d\d\.example\.com from 0\.\d % to/
  const ada = '“Move to the new pool” by Ada Example'
  for (const replica of replicas) {
    await until(async () => (await read(replica, '/')).includes('4 changes on hold since'))
    await expectOn(replica, '/', 'Needs attention', '4 changes on hold since', rose)
    await expectOn(replica, '/', 'The last day', `rollback ${id}-rollback: complete`, rose)
    await expectOn(replica, '/', 'The last day', `rollout ${id}: rolled back`, rose, ada)
    await expectOn(replica, '/', 'The last day', `apply ${id}-w1: complete`, ada)
    await expectOn(replica, '/rollouts', 'Ended', `rollout ${id}: rolled back`, ada)
    const waves = [
      'Wave 1: worse',
      '5xx rose on 2 of 2 domains',
      'in a table',
      'Wave 2: not begun',
      '4 domains on hold',
    ]
    await expectOn(replica, `/rollouts/${id}`, 'Rolled back', ada, ...waves)
    const lines = ['The last apply is complete', 'edgewise serve (', 'rolled back', `${id}-w1`]
    await until(async () => (await read(replica, '/history')).includes('The last apply'))
    await expectOn(replica, '/history', ...lines, ada)
  }
  const history = (await place.cli('state', 'history')).out.replaceAll(/\s+/g, ' ')
  expect(history).toMatch(
    new RegExp(`${id}-w1 rolled back 1 confirmed .*${ada} rolled back: wave 1`),
  )

  place.manifest(name(9), { timeout: { time: '61' } })
  await setFaults(emulator, { kind: 'refuse', domain: name(9), item: 'timeout' })
  commitAs('Ben Example', 'Add a domain')
  const message = 'item(timeout) is invalid: refused because of a configured fault'
  const refused = `refused: timeout of ${name(9)}: ${message}`
  const ben = '“Add a domain” by Ben Example'
  for (const replica of replicas) {
    await until(async () => (await read(replica, `/domains/${name(9)}`)).includes('1 refused'))
    await expectOn(replica, `/domains/${name(9)}`, 'timeout refused', `refused: ${message}`, ben)
    await expectOn(replica, '/', '1 refused', 'Needs attention', refused)
    await expectOn(replica, '/', 'The last day', /apply \S+-w1: refused \(refused: /, ben)
    await until(async () => (await read(replica, '/history')).includes('1 refused'))
    await expectOn(replica, '/history', 'The last apply is refused', ben)
  }
  expect((await place.cli('state', 'history')).out.replaceAll(/\s+/g, ' ')).toContain(refused)
  expect((await place.cli('show', name(9))).out.replaceAll(/\s+/g, ' ')).toContain(message)
  const logged = replicas.flatMap(({ log }) => log).find((line) => line.message === 'part.refused')
  expect(logged).toMatchObject({ level: 'warn', domains: name(9), items: 'timeout' })
})
