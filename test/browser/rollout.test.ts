import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import axe from 'axe-core'
import type { Locator, Page as Tab } from 'playwright-core'
import { expect, it } from 'vitest'
import { desktop, phone } from './open.ts'
import { findBarriers } from './barriers.ts'
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

/**
 * Finds the pixels of a chart that have a colour, or that of a variable of the style sheet, or any:
 * their places, 0 to 1 from left and top.
 */
async function findPixels(tab: Tab, wave: number, name: string | null) {
  return tab.evaluate<[x: number, y: number][]>(`{
    const canvas = document.querySelector('[data-chart="${wave}"] canvas')
    const { width, height } = canvas
    const copy = Object.assign(document.createElement('canvas'), { width, height })
    const context = copy.getContext('2d', { willReadFrequently: true })
    context.drawImage(canvas, 0, 0)
    const { data } = context.getImageData(0, 0, width, height)
    const style = getComputedStyle(document.documentElement)
    const name = '${name ?? '--ink'}'
    context.fillStyle = name[0] === '#' ? name : style.getPropertyValue(name).trim()
    const wanted = context.fillStyle.match(/[0-9a-f]{2}/g).map((each) => parseInt(each, 16))
    const found = []
    for (let i = 0; i < data.length; i += 4)
      if (data[i + 3] === 255 && (${name === null} ||
        wanted.every((each, k) => Math.abs(each - data[i + k]) < 24)))
        found.push([((i / 4) % width) / width, Math.floor(i / 4 / width) / height])
    found
  }`)
}

async function countPixels(tab: Tab, wave: number, name: string | null): Promise<number> {
  return (await findPixels(tab, wave, name)).length
}

/** Goes to the chart of a wave and waits until it is drawn. */
async function findChart(tab: Tab, wave: number): Promise<Locator> {
  const place = tab.locator(`[data-chart="${wave}"]`)
  await place.scrollIntoViewIfNeeded()
  await place.locator('canvas').waitFor()
  await expect.poll(() => countPixels(tab, wave, null)).toBeGreaterThan(500)
  return place
}

it('the worse wave is first, with its reason, its domains and its chart', async () => {
  const tab = await pages.open(page)
  const first = tab.locator('[data-check]').first()
  expect(await first.getAttribute('data-state')).toBe('worse')
  const text = await first.innerText()
  for (const part of ['Wave 3: worse', worseReason, '0.40 % → 27.50 %', 'more than chance'])
    expect(text).toContain(part)
  expect(await tab.locator('[data-rollback]').innerText()).toContain('wave 3 is worse')
  await findChart(tab, 3)
  for (const name of ['--unset', '--ink'])
    expect(await countPixels(tab, 3, name)).toBeGreaterThan(50)
  // The lines of the grid have nearly the same colour.
  expect(await countPixels(tab, 3, '--bar')).toBeGreaterThan(8000)
})

it('the line of a chart rises where the errors do, and breaks between the windows', async () => {
  const shares: [number[], number[]] = [Array(6).fill(2), Array(6).fill(60)]
  const tab = await pages.open(
    buildRolloutPage([written(1), buildVerdict(1, 'same-or-better', shares)]),
  )
  await findChart(tab, 1)
  const rows = await findPixels(tab, 1, '--unset')
  const heights = (from: number, to: number) =>
    rows.filter(([x]) => x > from && x < to).map(([, y]) => y)
  const [low, high] = [heights(0.1, 0.45), heights(0.6, 0.98)]
  expect([low.length > 50, high.length > 50]).toEqual([true, true])
  expect(Math.min(...low)).toBeGreaterThan(Math.max(...high) + 0.3)
  const [end, start] = [rows.filter(([x]) => x < 0.5), rows.filter(([x]) => x > 0.5)].map((each) =>
    each.map(([x]) => x),
  )
  expect(Math.min(...(start ?? [])) - Math.max(...(end ?? []))).toBeGreaterThan(0.05)
})

it('a chart is an image with a text, and its periods are a table', async () => {
  const tab = await pages.open(page)
  const place = await findChart(tab, 3)
  const image = place.getByRole('img')
  expect(await image.getAttribute('aria-label')).toMatch(
    /^Share of 5xx over time\. Before the wave, 2026-11-20 11:00 to 12:00 UTC: 0\.\d\d %\. After /,
  )
  const summary = place.locator('summary')
  expect(await place.locator('table').count()).toBe(0)
  await summary.focus()
  await tab.keyboard.press('Enter')
  await place.locator('table').waitFor()
  const rows = await place.locator('tbody tr').allInnerTexts()
  const points = page.rollout?.waves.find(({ wave }) => wave === 3)?.curve?.points ?? []
  expect(rows).toHaveLength(18)
  expect(rows.map((row) => row.split('\t').slice(2, 4).join())).toEqual(
    points.map(([, requests, bad]) => `${requests === 1000 ? '1,000' : requests},${bad}`),
  )
  expect(rows[17]).toBe('2026-11-20 12:35\tafter\t1,000\t265\t26.50 %\t725\t6\t3\t265\t1')
  await tab.keyboard.press('Tab')
  expect(await tab.evaluate('document.activeElement.getAttribute("role")')).toBe('region')
  await summary.focus()
  await tab.keyboard.press('Enter')
  await expect.poll(() => place.locator('table').isVisible()).toBe(false)
})

it('pointing at a chart shows the figures of a period', async () => {
  const tab = await pages.open(page)
  const place = await findChart(tab, 3)
  await place.locator('.u-over').hover()
  await expect.poll(() => place.locator('figcaption p').innerText()).toMatch(/^1\d:\d\d UTC: /)
})

it('times and numbers are the same in each zone and locale', async () => {
  const read = async (options: object) => {
    const tab = await pages.open(page, options)
    const place = await findChart(tab, 3)
    await place.locator('summary').click()
    await place.locator('table').waitFor()
    const image = await place.locator('canvas').evaluate('(canvas) => canvas.toDataURL()')
    return [await tab.locator('body').innerText(), image]
  }
  const usual = await read({})
  expect(await read({ locale: 'ar-EG', timezoneId: 'Asia/Kathmandu' })).toEqual(usual)
})

it.each([desktop, phone])('waves have no barriers, $width pixels wide', async (viewport) => {
  const tab = await pages.open(page, { viewport, colorScheme: 'light' })
  await tab.evaluate(axe.source)
  const place = await findChart(tab, 3)
  await place.locator('summary').click()
  await place.locator('table').waitFor()
  const width = await tab.evaluate<number>('document.documentElement.scrollWidth')
  expect(width).toBeLessThanOrEqual(viewport.width)
  expect(await findBarriers(tab)).toEqual([])
  await tab.emulateMedia({ colorScheme: 'dark' })
  expect(await findBarriers(tab, '[data-rollout]')).toEqual([])
})

it('a chart takes the colours of light, dark and forced ones, and the width it has', async () => {
  const tab = await pages.open(page, { colorScheme: 'light' })
  await findChart(tab, 3)
  await tab.emulateMedia({ colorScheme: 'dark' })
  await expect.poll(() => countPixels(tab, 3, '--unset')).toBeGreaterThan(50)
  await tab.emulateMedia({ colorScheme: 'dark', forcedColors: 'active' })
  await expect.poll(() => countPixels(tab, 3, '--unset')).toBe(0)
  expect(await countPixels(tab, 3, null)).toBeGreaterThan(500)
  await tab.setViewportSize(phone)
  const measure = () =>
    tab.evaluate<number>(`{
      const [canvas, place] = ['canvas', '[data-chart="3"]'].map((each) =>
        document.querySelector(each).getBoundingClientRect().width)
      place - canvas
    }`)
  await expect.poll(measure).toBeLessThan(2)
  expect(await measure()).toBeGreaterThan(-2)
})

it('on paper each wave has its chart, in the colours of paper', async () => {
  const tab = await pages.open(buildManyWavesPage(8, 12), { colorScheme: 'dark' })
  expect(await tab.locator('canvas').count()).toBe(0)
  await tab.emulateMedia({ media: 'print', colorScheme: 'dark' })
  await tab.evaluate("dispatchEvent(new Event('beforeprint'))")
  await expect.poll(() => tab.locator('canvas').count()).toBe(7)
  const text = await tab.locator('[data-rollout]').innerText()
  for (let wave = 1; wave < 8; wave++) expect(text).toContain(`Wave ${wave}: healthy`)
  // The colours on paper are those of the light style, which print has.
  await expect.poll(() => countPixels(tab, 5, '--unset')).toBeGreaterThan(50)
  await tab.evaluate("dispatchEvent(new Event('afterprint'))")
  expect(await tab.locator('[data-fold][open]').count()).toBe(0)
  expect((await tab.pdf()).subarray(0, 5).toString()).toBe('%PDF-')
})

it('a chart that is drawn on a dark screen is printed in the colours of paper', async () => {
  const tab = await pages.open(page, { colorScheme: 'dark' })
  await findChart(tab, 3)
  const red = '#a0151b'
  expect(await countPixels(tab, 3, red)).toBe(0)
  await tab.evaluate("dispatchEvent(new Event('beforeprint'))")
  expect(await countPixels(tab, 3, red)).toBeGreaterThan(50)
  await tab.evaluate("dispatchEvent(new Event('afterprint'))")
  expect(await countPixels(tab, 3, red)).toBe(0)
  expect(await countPixels(tab, 3, '--unset')).toBeGreaterThan(50)
})

it('without JavaScript each verdict is read', async () => {
  const tab = await pages.open(page, { javaScriptEnabled: false })
  const text = await tab.locator('[data-rollout]').innerText()
  for (const part of ['Wave 3: worse', worseReason, 'Wave 2: unclear', 'Wave 1: healthy'])
    expect(text).toContain(part)
})

it('hostile texts of waves run nothing', async () => {
  const attack = '</script><img src=x onerror="window.__hit=1"><script>window.__hit=2</script>'
  const event = buildVerdict(
    1,
    'worse',
    [
      [1, 1],
      [9, 9],
    ],
    { reason: attack },
  )
  if (event.type !== 'wave.judged') throw new Error('expected a verdict')
  event.statistics.statuses = [attack]
  const sample = { requests: 1, bad: 1 }
  event.worse = [{ domain: attack, before: sample, after: sample }]
  const tab = await pages.open(buildRolloutPage([written(1), event]))
  const place = await findChart(tab, 1)
  await place.locator('summary').click()
  expect(await tab.evaluate('window.__hit')).toBeUndefined()
  expect(await tab.locator('main img, main script').count()).toBe(0)
  expect(await place.locator('caption').innerText()).toBe(`Bad: ${attack}`)
  expect(await tab.locator('[data-check="1"]').innerText()).toContain(attack)
})

it('50 waves of 60 periods are quick: charts are drawn when they are opened', async () => {
  const address = pages.write(buildManyWavesPage(50, 60))
  const bytes = statSync(fileURLToPath(address)).size
  const tab = await pages.open(address)
  const ready = await tab.evaluate<number>("performance.getEntriesByName('ready')[0].startTime")
  expect(await tab.locator('canvas').count()).toBe(0)
  await tab.locator('summary', { hasText: '49 healthy waves' }).press('Enter')
  await tab.locator('[data-check="1"] summary').first().press('Enter')
  await findChart(tab, 1)
  expect(await tab.locator('canvas').count()).toBe(1)
  const drawn = await tab.evaluate<number>(`{
    const from = performance.now()
    dispatchEvent(new Event('beforeprint'))
    performance.now() - from
  }`)
  expect(await tab.locator('canvas').count()).toBe(49)
  const plain = statSync(fileURLToPath(pages.write(buildFleetPage(150, 50)))).size
  console.log(
    `50 waves of 60 periods: ${(bytes / 1e3).toFixed(0)} kB, without their health ` +
      `${(plain / 1e3).toFixed(0)} kB, ready after ${ready.toFixed(0)} ms, all 49 charts for ` +
      `paper in ${drawn.toFixed(0)} ms`,
  )
  expect(bytes).toBeLessThan(5e5)
  expect(ready).toBeLessThan(10_000)
})
