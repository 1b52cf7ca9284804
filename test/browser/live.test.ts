import axe from 'axe-core'
import type { Page as Tab } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { formatPage } from '../../src/outlets/report/page/format-page.ts'
import { apiToken } from '../server/http-stage.ts'
import { buildOverview, headCommit, openRollout, waiting } from '../server/page-stage.ts'
import { findBarriers } from './barriers.ts'
import { buildHistoryModel } from './histories.ts'
import { useLiveTabs } from './live-tabs.ts'
import { desktop, phone } from './open.ts'

const { start } = useLiveTabs()
const readSentence = (tab: Tab) => tab.locator('[data-sentence]').innerText()

describe.each([true, false])('with scripts: %s', (javaScriptEnabled) => {
  it('a reader logs in, sees what waits, approves it, and logs out', async () => {
    const stage = await start()
    const tab = await stage.enter('/', { javaScriptEnabled })
    expect(await readSentence(tab)).toBe('Wave 2 of 3 waits for approval: 5 domains.')
    await tab.getByRole('button', { name: 'Approve wave 2 (5 domains)' }).click()
    const outcome = tab.locator('.outcome')
    expect(await outcome.innerText()).toContain('Approved wave 2 of 3 of rollout r1 (5 domains).')
    expect(await readSentence(tab)).toBe('Wave 2 of 3 begins soon: 5 domains.')
    await tab.reload()
    expect(await outcome.count()).toBe(0)
    expect(await tab.content()).not.toContain(apiToken)
    await tab.getByRole('button', { name: 'Log out' }).click()
    expect(await tab.locator('h1').innerText()).toBe('Log in')
    await tab.goto(`${stage.http.url}/rollouts/r1`)
    expect(await tab.locator('h1').innerText()).toBe('Log in')
  })

  it('a wrong token is refused, and the page is kept', async () => {
    const stage = await start()
    const tab = await stage.open('/rollouts/r1', { javaScriptEnabled })
    await tab.locator('#token').fill('wrong')
    await tab.keyboard.press('Enter')
    expect(await tab.getByRole('alert').innerText()).toBe('The token is wrong.')
    await tab.locator('#token').fill(apiToken)
    await tab.keyboard.press('Enter')
    await tab.locator('nav.live').waitFor()
    expect(await tab.locator('h1').innerText()).toBe('Rollout r1')
  })

  it('an abort is confirmed, and a decision about another step is refused', async () => {
    const stage = await start()
    const tab = await stage.enter('/', { javaScriptEnabled })
    await tab.getByRole('link', { name: 'Abort…' }).click()
    expect(await tab.locator('h1').innerText()).toContain('30 domains would be on hold.')
    stage.show({ ...waiting(), rollouts: [openRollout({ paused: { author: 'x', at: 'now' } })] })
    await tab.getByRole('button', { name: 'Abort the rollout' }).click()
    expect(await tab.locator('.message').innerText()).toContain('no longer as it was shown')
    await tab.getByRole('link', { name: 'To the overview' }).click()
    expect(await readSentence(tab)).toBe('The rollout is paused before wave 2 of 3.')
    await tab.getByRole('link', { name: 'Abort…' }).click()
    await tab.getByRole('button', { name: 'Abort the rollout' }).click()
    expect(await tab.locator('.outcome').innerText()).toContain('of 30 domains are on hold')
    expect(await readSentence(tab)).toContain('by rollout r1, stopped: aborted by root@server.')
  })
})

it('the plan has the navigation, and its filters survive a reload', async () => {
  const stage = await start()
  const tab = await stage.enter('/plan')
  await tab.locator('html[data-ready="true"]').waitFor({ state: 'attached' })
  await tab.locator('input[name=domain]').fill('shop-1.fr')
  await tab.waitForURL(/#domain=/)
  await tab.reload()
  await tab.locator('html[data-ready="true"]').waitFor({ state: 'attached' })
  expect(await tab.locator('input[name=domain]').inputValue()).toBe('shop-1.fr')
  await tab.getByRole('link', { name: 'Overview' }).click()
  expect(await readSentence(tab)).toBe('Wave 2 of 3 waits for approval: 5 domains.')
})

it('the details of a change lead to the page of its domain', async () => {
  const stage = await start()
  const tab = await stage.enter('/plan')
  await tab.locator('[role=gridcell][data-action]').first().click()
  const link = tab.locator('[data-details] h2 a')
  const name = await link.innerText()
  expect(await link.getAttribute('href')).toBe(`/domains/${name}`)
})

it('rows of the matrix lead to pages of domains, and Tab passes them by', async () => {
  const stage = await start()
  const tab = await stage.enter('/plan')
  const head = tab.locator('[role=rowheader]').first()
  const name = (await head.getAttribute('title')) ?? ''
  const link = head.locator('a')
  expect(await link.getAttribute('tabindex')).toBe('-1')
  expect(await link.getAttribute('href')).toBe(`/domains/${name}`)
})

it('the waves of a history lead to the pages of their rollouts', async () => {
  const model = buildHistoryModel(48, 5)
  const built = {
    format: (nav: string) => formatPage(model, nav),
    at: '2026-01-02T03:00:00.000Z',
    commit: headCommit,
    revision: 'plan-1',
  }
  const stage = await start({ history: async () => built })
  const wave = model.applies?.find(({ rollout }) => rollout?.wave === 3)
  const id = wave?.rollout?.id
  const tab = await stage.enter('/history')
  await tab.locator(`[data-apply="${wave?.id}"]`).click()
  const link = tab.locator('.apply dd', { hasText: 'wave 3 of' }).locator('a')
  expect(await link.getAttribute('href')).toBe(`/rollouts/${id}`)
})

it('a rollout has the health of its waves with their curves', async () => {
  const stage = await start()
  const tab = await stage.enter('/rollouts/r1')
  const waves = tab.locator('.wave')
  expect(await waves.first().innerText()).toContain('Wave 1: healthy')
  expect(await waves.nth(1).innerText()).toContain('Wave 2: waiting')
  const first = tab.locator('.wave[data-wave="1"]')
  expect(await first.innerText()).toContain('Wave 1: healthy')
  expect(await first.locator('.canvas .share').count()).toBe(1)
})

it('the history has the navigation', async () => {
  const stage = await start()
  const tab = await stage.enter('/')
  await tab.getByRole('link', { name: 'History' }).click()
  expect(await tab.locator('nav [aria-current=page]').innerText()).toBe('History')
})

describe('while a page is open', () => {
  it('news reload it, or are announced to somebody who uses it', async () => {
    const stage = await start()
    const tab = await stage.enter()
    await look(tab)
    expect(await tab.locator('[data-news]').innerText()).toBe('')
    await tab.evaluate('document.activeElement.blur()')
    stage.show({ ...waiting(), problem: 'the repository is away' })
    await look(tab)
    await expect.poll(() => tab.locator('.also').innerText()).toContain('the repository is away')
    await tab.locator('summary').first().click()
    // What was opened is read without a focus, too.
    await tab.evaluate('document.activeElement.blur()')
    stage.show(buildOverview())
    await look(tab)
    await expect.poll(() => tab.locator('[data-news]').innerText()).toContain('There is news.')
    expect(await tab.locator('details[open]').count()).toBe(1)
    await tab.getByRole('button', { name: 'Show it' }).click()
    await expect.poll(() => readSentence(tab)).toMatch(/^Commit 4f0c2d9a1b7e is applied, nothing/)
  })

  it('a server that does not answer is reported, and one that answers again', async () => {
    const stage = await start()
    const tab = await stage.enter()
    await tab.context().setOffline(true)
    await look(tab)
    const news = tab.locator('[data-news]')
    await expect.poll(() => news.innerText()).toMatch(/^The server has not answered since \d/)
    await tab.context().setOffline(false)
    await look(tab)
    await expect.poll(() => news.innerText()).toBe('')
    expect(stage.faults.splice(0).every((fault) => fault.includes('ERR_INTERNET'))).toBe(true)
  })

  it('the end of the session is reported', async () => {
    const stage = await start()
    const tab = await stage.enter()
    await tab.context().clearCookies()
    await look(tab)
    await expect.poll(() => tab.locator('[data-news]').innerText()).toContain('has ended')
  })
})

it('keys reach all that can be used, and decide', async () => {
  const stage = await start()
  const tab = await stage.enter()
  const reached: string[] = []
  for (let i = 0; i < 14; i++) {
    await tab.keyboard.press('Tab')
    reached.push(await tab.evaluate<string>('document.activeElement.textContent'))
  }
  const links = ['Overview', 'Domains', 'Plan', 'Drift', 'Rollouts', 'History']
  const names = ['Skip to the content', ...links]
  expect(reached).toEqual([
    ...names,
    'Log out',
    'The whole plan',
    'r1',
    'Approve wave 2 (5 domains)',
    'Pause',
    'Abort…',
    '1 domain',
  ])
  await tab.getByRole('button', { name: 'Pause' }).focus()
  await tab.keyboard.press('Enter')
  await expect.poll(() => readSentence(tab)).toBe('The rollout is paused before wave 2 of 3.')
})

const looks = [desktop, phone].flatMap((viewport) =>
  ['/', '/rollouts/r1', '/rollouts/r1/abort', '/plan', '/drift', 'login'].map((path) => ({
    path,
    viewport,
  })),
)
it.each(looks)('$path has no barriers, $viewport.width wide', async ({ path, viewport }) => {
  const stage = await start()
  const problem = 'a problem'
  stage.show({
    ...waiting(),
    problem,
    ended: [
      openRollout({ id: 'r0', state: 'stopped', onHold: { 'a.example': { https: 'x' } } }).rollout,
    ],
  })
  const options = { viewport, colorScheme: 'light' } as const
  const tab = path === 'login' ? await stage.open('/', options) : await stage.enter(path, options)
  // The policy of the page allows no script of others.
  await tab.evaluate(axe.source)
  const width = await tab.evaluate<number>('document.documentElement.scrollWidth')
  expect(width).toBeLessThanOrEqual(viewport.width)
  expect(await findBarriers(tab)).toEqual([])
  await tab.emulateMedia({ colorScheme: 'dark' })
  expect(await findBarriers(tab, 'html', ['color-contrast'])).toEqual([])
})

/** Lets the page look for news now, as it does when its tab is shown again. */
async function look(tab: Tab): Promise<void> {
  const asked = tab.waitForEvent('request', (request) => request.url().endsWith('/live'))
  await tab.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
  await asked
}
