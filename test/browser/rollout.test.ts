import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import axe from 'axe-core'
import { expect, it } from 'vitest'
import { findBarriers } from './barriers.ts'
import { desktop, phone } from './open.ts'
import { buildFleetPage } from './pages.ts'
import {
  buildManyWavesPage,
  buildRolloutPage,
  buildVerdict,
  buildWorsePage,
  worseReason,
  written,
} from './rollout-pages.ts'
import { usePages } from './use-pages.ts'

const pages = usePages()
const page = buildWorsePage()
const third = '.wave[data-wave="3"]'

it('the worse wave is first, with its reason, its domains and its curve', async () => {
  const tab = await pages.open(page)
  const first = tab.locator('.wave').first()
  expect(await first.getAttribute('data-state')).toBe('worse')
  const text = await first.innerText()
  for (const part of ['Wave 3: worse', worseReason, '0.40 % → 27.50 %', 'more than chance'])
    expect(text).toContain(part)
  expect(await tab.locator('[data-rollback]').innerText()).toContain('wave 3 is worse')
  const curve = first.locator('.canvas')
  for (const name of ['share', 'level', 'written', 'bars'])
    expect(await curve.locator(`.${name}`).count()).toBe(1)
})

it('a curve is an image with a text, and its periods are a table', async () => {
  const tab = await pages.open(page)
  const wave = tab.locator(third)
  expect(await wave.getByRole('img').getAttribute('aria-label')).toMatch(
    /^Share of 5xx over time\. Before the wave, 2026-11-20 11:00 to 12:00 UTC: 0\.\d\d %\. After /,
  )
  const summary = wave.locator('.points summary')
  const table = wave.locator('table')
  expect(await table.isVisible()).toBe(false)
  await summary.focus()
  await tab.keyboard.press('Enter')
  await table.waitFor()
  const rows = await wave.locator('tbody tr').allInnerTexts()
  const { health } = page.waves.find((each) => each.wave === 3) ?? {}
  expect(rows.map((row) => row.split('\t').slice(2, 4).join())).toEqual(
    health?.curve?.points.map(
      ([, requests, bad]) => `${requests === 1000 ? '1,000' : requests},${bad}`,
    ),
  )
  expect(rows[17]).toBe('12:35\tafter\t1,000\t265\t26.50 %\t725\t6\t3\t265\t1')
  await tab.keyboard.press('Tab')
  expect(await tab.evaluate('document.activeElement.getAttribute("role")')).toBe('region')
})

it('pointing at a curve shows the figures of a period', async () => {
  const tab = await pages.open(page)
  const wave = tab.locator(third)
  const { width = 0 } = (await wave.locator('.canvas').boundingBox()) ?? {}
  await wave.locator('.canvas').hover({ position: { x: width - 5, y: 60 } })
  const readout = wave.locator('figcaption p')
  expect(await readout.innerText()).toBe('2026-11-20 12:35 UTC: 26.50 % of 1,000')
  // Between the windows there is none.
  await wave.locator('.canvas').hover({ position: { x: width * 0.62, y: 60 } })
  expect(await readout.innerText()).toBe('')
})

it.each([desktop, phone])('waves have no barriers, $width pixels wide', async (viewport) => {
  const tab = await pages.open(page, { viewport, colorScheme: 'light' })
  await tab.evaluate(axe.source)
  await tab.locator(`${third} .points summary`).click()
  const width = await tab.evaluate<number>('document.documentElement.scrollWidth')
  expect(width).toBeLessThanOrEqual(viewport.width)
  expect(await findBarriers(tab)).toEqual([])
  await tab.emulateMedia({ colorScheme: 'dark' })
  expect(await findBarriers(tab, '.rollout')).toEqual([])
})

it('a curve has the colours of light, dark and forced ones, and of paper', async () => {
  const tab = await pages.open(page, { colorScheme: 'light' })
  const read = () =>
    tab.evaluate<string[]>(`['share', 'level', 'grid'].map((name) =>
      getComputedStyle(document.querySelector('.canvas .' + name)).stroke)`)
  const light = await read()
  expect(new Set(light).size).toBe(3)
  await tab.emulateMedia({ colorScheme: 'dark' })
  const dark = await read()
  expect(dark.filter((color) => light.includes(color))).toEqual([])
  await tab.emulateMedia({ media: 'print', colorScheme: 'dark' })
  expect(await read()).toEqual(light)
})

it('on paper each wave is open', async () => {
  const tab = await pages.open(buildManyWavesPage(8, 12))
  await tab.emulateMedia({ media: 'print' })
  await tab.evaluate("dispatchEvent(new Event('beforeprint'))")
  const text = await tab.locator('.rollout').innerText()
  for (let wave = 1; wave < 8; wave++) expect(text).toContain(`Wave ${wave}: healthy`)
  await tab.evaluate("dispatchEvent(new Event('afterprint'))")
  expect(await tab.locator('[data-fold][open]').count()).toBe(0)
  expect((await tab.pdf()).subarray(0, 5).toString()).toBe('%PDF-')
})

it('without JavaScript each verdict and its curve are read', async () => {
  const tab = await pages.open(page, { javaScriptEnabled: false })
  const text = await tab.locator('.rollout').innerText()
  for (const part of ['Wave 3: worse', worseReason, 'Wave 2: unclear', 'Wave 1: healthy'])
    expect(text).toContain(part)
  expect(await tab.locator('.canvas').count()).toBe(3)
})

it('hostile texts of waves run nothing', async () => {
  const attack = '</script><img src=x onerror="window.__hit=1"><script>window.__hit=2</script>'
  const shares: [number[], number[]] = [
    [1, 1],
    [9, 9],
  ]
  const event = buildVerdict(1, 'worse', shares, { reason: attack })
  if (event.type !== 'wave.judged') throw new Error('expected a verdict')
  event.statistics.statuses = [attack]
  const sample = { requests: 1, bad: 1 }
  event.worse = [{ domain: attack, before: sample, after: sample }]
  const tab = await pages.open(buildRolloutPage([written(1), event]))
  const wave = tab.locator('.wave').first()
  await wave.locator('.points summary').click()
  expect(await tab.evaluate('window.__hit')).toBeUndefined()
  expect(await tab.locator('main img, main script').count()).toBe(0)
  expect(await wave.locator('caption').innerText()).toBe(`Bad: ${attack}`)
  expect(await wave.innerText()).toContain(attack)
})

it('50 waves of 60 periods are small and quick', async () => {
  const address = pages.write(buildManyWavesPage(50, 60))
  const bytes = statSync(fileURLToPath(address)).size
  const tab = await pages.open(address)
  const ready = await tab.evaluate<number>("performance.getEntriesByName('ready')[0].startTime")
  await tab.locator('summary', { hasText: '49 healthy waves' }).press('Enter')
  expect(await tab.locator('.wave[data-wave="1"] .canvas').isVisible()).toBe(true)
  const plain = statSync(fileURLToPath(pages.write(buildFleetPage(150, 50)))).size
  console.log(
    `50 waves of 60 periods: ${(bytes / 1e3).toFixed(0)} kB, without their health ` +
      `${(plain / 1e3).toFixed(0)} kB, ready after ${ready.toFixed(0)} ms`,
  )
  expect(bytes).toBeLessThan(6e5)
  expect(ready).toBeLessThan(10_000)
})
