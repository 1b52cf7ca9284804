import { expect, it } from 'vitest'
import { buildFleetPage, buildSmallPage, buildWavesPage, warnings } from './pages.ts'
import { usePages } from './use-pages.ts'

const pages = usePages()
const page = buildWavesPage()

it.each([
  ['1 change', buildSmallPage()],
  ['12 domains in waves', page],
  ['3,000 domains', buildFleetPage(3000, 5)],
  [
    'no change',
    { ...buildSmallPage(), changes: [], writes: [], waves: [], domains: [], parts: [] },
  ],
])('a page of %s opens in silence, its sentence first', async (_, model) => {
  const tab = await pages.open(model)
  expect(await tab.locator('[data-sentence]').innerText()).toContain(model.sentence)
  expect(await tab.locator('main h1').count()).toBe(1)
  expect(await tab.title()).not.toBe('')
  const marks = await tab.evaluate("performance.getEntriesByName('ready').length")
  expect(marks).toBe(1)
  const outside = await tab.evaluate("performance.getEntriesByType('resource').length")
  expect(outside).toBe(0)
})

it('a locale changes nothing, nor does one that is none', async () => {
  const usual = await pages.open(page)
  const text = await usual.locator('body').innerText()
  for (const locale of ['en-US@posix', 'ar-EG']) {
    const tab = await pages.open(page, { locale })
    expect(await tab.evaluate('navigator.language')).toBe(locale)
    expect(await tab.locator('body').innerText()).toBe(text)
  }
})

it('what will not happen, the warnings and the waves are shown', async () => {
  const tab = await pages.open(page)
  expect(await tab.locator('[data-warnings] li').allInnerTexts()).toEqual(warnings)
  const unsent = await tab.locator('[data-unsent]').innerText()
  for (const { text, domains } of page.notices)
    for (const part of [text, ...domains]) expect(unsent).toContain(part)
  const waves = await tab.locator('.wave').allInnerTexts()
  for (const [i, { wave }] of page.waves.entries()) expect(waves[i]).toContain(`Wave ${wave}`)
})

it('without JavaScript the sentence, the warnings and the changes are read', async () => {
  const tab = await pages.open(page, { javaScriptEnabled: false })
  const text = await tab.locator('body').innerText()
  expect(await tab.locator('[data-sentence]').isVisible()).toBe(true)
  expect(text).toContain(page.sentence)
  for (const warning of warnings) expect(text).toContain(warning)
  for (const notice of page.notices) expect(text).toContain(notice.text)
  for (const { domain, part } of page.changes) {
    expect(text).toContain(page.domains[domain])
    for (const line of page.parts[part]?.lines ?? []) expect(text).toContain(line.text)
  }
  const dead = tab.locator('input:not([disabled]), select:not([disabled]), button:not([disabled])')
  for (const control of await dead.all()) expect(await control.isVisible()).toBe(false)
})

it('on paper all changes are read, without the filters', async () => {
  const tab = await pages.open(page)
  await tab.emulateMedia({ media: 'print' })
  await tab.evaluate("dispatchEvent(new Event('beforeprint'))")
  const text = await tab.locator('body').innerText()
  for (const name of page.domains) expect(text).toContain(name)
  for (const { writes, part } of page.changes) {
    expect(writes.length).toBeGreaterThanOrEqual(0)
    for (const line of page.parts[part]?.lines ?? []) expect(text).toContain(line.text)
  }
  expect(await tab.locator('input[name=domain]').isVisible()).toBe(false)
  const pdf = await tab.pdf()
  expect(pdf.subarray(0, 5).toString()).toBe('%PDF-')
})

it('printing restores the page', async () => {
  const tab = await pages.open(buildFleetPage(400, 4))
  const read = () => tab.locator('body').innerText()
  const before = await read()
  await tab.pdf()
  await expect.poll(read).toBe(before)
})
