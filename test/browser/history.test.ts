import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import axe from 'axe-core'
import type { Page as Tab } from 'playwright-core'
import { expect, it } from 'vitest'
import { findBarriers } from './barriers.ts'
import { buildHistoryModel, buildHostileHistory } from './histories.ts'
import { desktop, phone } from './open.ts'
import { usePages } from './use-pages.ts'

const pages = usePages()
const model = buildHistoryModel(48, 5)
const listed = (tab: Tab) =>
  tab.evaluate<string[]>(
    "[...document.querySelectorAll('[data-apply]')].map((each) => each.dataset.apply)",
  )
const count = (tab: Tab) => tab.locator('[data-count]').innerText()
const title = (tab: Tab) => tab.locator('.apply h2').innerText()

it('opens in silence with the last apply, its outcome as a word, and its changes', async () => {
  const tab = await pages.open(model)
  expect(await tab.locator('[data-sentence]').innerText()).toBe(model.sentence)
  const [last] = model.applies ?? []
  expect(await title(tab)).toBe(`Last apply ${last?.id}`)
  expect(await tab.locator('.apply [data-outcome]').innerText()).toBe('complete')
  expect(await tab.locator('.apply').innerText()).toContain(last?.rollback ?? 'none')
  expect(await tab.locator('.changes').innerText()).toContain('5 changes')
  expect(await tab.locator('[role=gridcell][data-action]').count()).toBe(5)
  expect(await tab.locator('table').count()).toBe(0)
})

it('an empty history has its sentence alone', async () => {
  const tab = await pages.open(buildHistoryModel(0, 0))
  expect(await tab.locator('main').innerText()).toContain('There are no applies yet.')
  expect(await tab.locator('button, input').count()).toBe(0)
})

it('filters are in the address, and a link opens what they show', async () => {
  const tab = await pages.open(model)
  await tab.locator('select[name=outcome]').selectOption('refused')
  expect(await count(tab)).toBe('5 of 48 applies')
  await tab.locator('select[name=author]').selectOption('bo')
  const shown = await listed(tab)
  expect(shown.length).toBeGreaterThan(0)
  await tab.locator('[data-apply]').last().click()
  const chosen = await title(tab)
  expect(chosen).toBe(`Apply ${shown.at(-1)}`)
  const hash = await tab.evaluate<string>('location.hash')
  expect(hash).toMatch(/^#apply=.+&outcome=refused&author=bo$/)
  const other = await pages.open(model, { hash })
  expect([await listed(other), await title(other)]).toEqual([shown, chosen])
  await tab.goBack()
  expect(await title(tab)).toBe(`Apply ${shown[0]}`)
  await tab.locator('.clear').click()
  expect(await count(tab)).toBe('48 applies')
})

it('a domain shows the applies that changed it, and what may have', async () => {
  const tab = await pages.open(model)
  const name = model.domains[7] ?? ''
  await tab.locator('input[name=domain]').fill(name)
  const applies = new Set(
    model.changes.flatMap(({ domain, writes }) => (domain === 7 ? writes : [])),
  )
  const own = (model.applies ?? []).filter((_, i) => applies.has(i))
  expect(await listed(tab)).toEqual(own.map(({ id }) => id))
  const changes = tab.locator('.changes')
  expect(await changes.innerText()).toContain(name)
  expect(await tab.locator('.rest').innerText()).toContain('What 5 applies changed is not')
  await tab.locator('input[name=domain]').fill('no such domain')
  expect(await tab.locator('.entries .none').isVisible()).toBe(true)
})

it('a rollout has its waves together, and a link with its id', async () => {
  const wave = model.applies?.find(({ rollout }) => rollout?.wave === 3)
  const id = wave?.rollout?.id ?? ''
  const tab = await pages.open(model, { hash: `#apply=${id}` })
  expect(await title(tab)).toBe(`Apply ${wave?.id}`)
  expect(await tab.locator('[data-apply][aria-pressed=true]').innerText()).toContain('wave 3 of')
  const ids = await listed(tab)
  const at = ids.indexOf(`${id}-w3`)
  expect(ids.slice(at, at + 3)).toEqual([`${id}-w3`, `${id}-w2`, `${id}-w1`])
})

it('keys move through the list and into the changes', async () => {
  const tab = await pages.open(model)
  const ids = (model.applies ?? []).map(({ id }) => id)
  await tab.locator('[data-apply]').first().focus()
  const focused = () => tab.evaluate<string | null>('document.activeElement.dataset.apply ?? null')
  await tab.keyboard.press('ArrowDown')
  expect(await focused()).toBe(ids[1])
  await tab.keyboard.press('Enter')
  expect(await title(tab)).toBe(`Apply ${ids[1]}`)
  expect(await focused()).toBe(ids[1])
  await tab.keyboard.press('End')
  expect(await focused()).toBe(ids.at(-1))
  await tab.keyboard.press('Home')
  expect(await focused()).toBe(ids[0])
  await tab.keyboard.press('Tab')
  expect(await tab.evaluate('document.activeElement.className')).toContain('domain')
})

it.each([desktop, phone])('has no barriers, $width pixels wide', async (viewport) => {
  const tab = await pages.open(model, { viewport })
  await tab.evaluate(axe.source)
  const width = await tab.evaluate<number>('document.documentElement.scrollWidth')
  expect(width).toBeLessThanOrEqual(viewport.width)
  for (const colorScheme of ['light', 'dark'] as const) {
    await tab.emulateMedia({ colorScheme })
    expect(await findBarriers(tab)).toEqual([])
  }
})

it('without JavaScript the applies are a table', async () => {
  const tab = await pages.open(model, { javaScriptEnabled: false })
  expect(await tab.locator('tbody tr').count()).toBe(48)
  const row = await tab.locator('tbody tr').first().innerText()
  const { id = '', author, tree } = model.applies?.[0] ?? {}
  for (const text of ['complete', id, author ?? '', tree ?? '', '3 confirmed'])
    expect(row).toContain(text)
})

it('on paper all applies are read, without the filters', async () => {
  const tab = await pages.open(model)
  await tab.emulateMedia({ media: 'print' })
  await tab.evaluate("dispatchEvent(new Event('beforeprint'))")
  expect(await listed(tab)).toEqual(model.applies?.map(({ id }) => id))
  expect(await tab.locator('input[name=domain]').isVisible()).toBe(false)
  expect((await tab.pdf()).subarray(0, 5).toString()).toBe('%PDF-')
})

it('hostile texts are shown as texts, and run nothing', async () => {
  const attacks = [
    '<script>window.__hit=1</script>',
    '</script><img src=x onerror=window.__hit=2>',
    '"><svg onload=window.__hit=3>',
    '__proto__',
    '<!--<script>',
    '\u202egnp.exe',
  ]
  const page = buildHostileHistory(attacks)
  const tab = await pages.open(page)
  for (const apply of await tab.locator('[data-apply]').all()) await apply.click()
  await tab.goto(`${tab.url().split('#')[0]}#apply=<img>&author=__proto__&outcome=constructor`)
  expect(await tab.evaluate('window.__hit')).toBeUndefined()
  expect(await tab.locator('main img, main svg[onload], main script').count()).toBe(0)
  await tab.locator('.clear').click()
  const text = await tab.locator('body').innerText()
  for (const attack of attacks.slice(0, 5)) expect(text).toContain(attack)
  expect(text).not.toContain('\u202e')
})

it.each([
  ['1,000 applies, 5,000 changes', buildHistoryModel(1000, 5), 1],
  ['5,000 applies of 10,000 domains', buildHistoryModel(5000, 40, 10_000), 5],
])('%s are small and quick', async (name, page, megabytes) => {
  const address = pages.write(page)
  const bytes = statSync(fileURLToPath(address)).size
  const tab = await pages.open(address)
  const ready = await tab.evaluate<number>("performance.getEntriesByName('ready')[0].startTime")
  const key = await tab.evaluate<number>(`new Promise((resolve) => {
    const from = performance.now()
    document.querySelector('input[name=domain]').focus()
    document.execCommand('insertText', false, 's')
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - from)))
  })`)
  const nodes = await tab.evaluate<number>("document.querySelectorAll('*').length")
  console.log(
    `${name}: ${page.applies?.length} applies, ${(bytes / 1e6).toFixed(2)} MB, ready after ` +
      `${ready.toFixed(0)} ms, filtered ${key.toFixed(0)} ms after a key, ${nodes} elements`,
  )
  expect(bytes).toBeLessThan(megabytes * 1e6)
  expect(nodes).toBeLessThan(3000)
  // Far above what is expected: a page that hangs is red, a slow machine is not.
  expect(ready).toBeLessThan(10_000)
})
