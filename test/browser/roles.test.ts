import axe from 'axe-core'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, inject, it } from 'vitest'
import type { RoleRule } from '../../src/core/model/people/roles.ts'
import { closeHttp } from '../server/http-stage.ts'
import { startWithRoles } from '../people/attempts.ts'
import { findBarriers } from './barriers.ts'
import { desktop, launch } from './open.ts'

let browser: Browser | null = null
beforeAll(async () => {
  browser = await launch(inject('chromium'))
})
afterEach(async () => {
  for (const context of browser?.contexts() ?? []) await context.close()
  await closeHttp()
})
afterAll(() => browser?.close())

const roles = (['viewer', 'approver', 'operator'] as const).map((role): RoleRule => ({
  role,
  users: [],
  groups: [role],
  domains: ['*'],
}))

/** Opens the overview as somebody of a group; lists the buttons, and those that are disabled. */
async function look(group: string) {
  if (browser === null) throw new Error('no browser runs')
  const { http } = await startWithRoles(roles)
  const extraHTTPHeaders = { 'X-User': 'ada', 'X-Groups': group }
  const context = await browser.newContext({ viewport: desktop, extraHTTPHeaders })
  const tab = await context.newPage()
  await tab.goto(`${http.url}/`)
  const list = (selector: string) => tab.locator(selector).allInnerTexts()
  return {
    tab,
    enabled: await list('main button:enabled, main a.button'),
    disabled: await list('main button:disabled'),
  }
}

it.each([
  ['viewer', [], ['Approve wave 2 (5 domains)', 'Pause', 'Abort…', 'Stop all writes']],
  ['approver', ['Approve wave 2 (5 domains)', 'Pause'], ['Abort…', 'Stop all writes']],
  ['operator', ['Pause', 'Abort…', 'Stop all writes'], ['Approve wave 2 (5 domains)']],
])(
  'a page offers what the role %s may, and gives the reason for the rest',
  async (group, yes, no) => {
    const { tab, enabled, disabled } = await look(group)
    expect(enabled.toSorted()).toEqual(yes.toSorted())
    expect(disabled.toSorted()).toEqual(no.toSorted())
    expect(await tab.locator('[data-who]').innerText()).toBe('ada')
    for (const button of await tab.locator('main button:disabled').all()) {
      const id = (await button.getAttribute('aria-describedby')) ?? ''
      expect(await tab.locator(`[id="${id}"]`).innerText()).toMatch(/^ada may not .*needs the role/)
    }
    await tab.evaluate(axe.source)
    expect(await findBarriers(tab)).toEqual([])
  },
)

it('a form of a page is decided by its reader', async () => {
  const { tab } = await look('approver')
  await tab.getByRole('button', { name: 'Approve wave 2' }).click()
  await tab.locator('.outcome').waitFor()
  expect(await tab.locator('.outcome').innerText()).toContain('Approved wave 2 of 3')
})

it('somebody without a role sees nothing but the reason', async () => {
  const { tab } = await look('strangers')
  expect(await tab.locator('main').innerText()).toContain('ada may not see anything')
  expect(await tab.locator('[data-rollout]').count()).toBe(0)
})
