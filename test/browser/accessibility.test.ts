import axe from 'axe-core'
import { expect, it } from 'vitest'
import { formatReport } from '../../src/outlets/report/page/format-page.ts'
import { formatTable } from '../../src/outlets/report/page/format-table.ts'
import { beginPage } from '../../src/outlets/report/page/page-about.ts'
import { buildAbout } from '../report/page/build-page.ts'
import { findBarriers } from './barriers.ts'
import { desktop, phone } from './open.ts'
import { buildFleetPage, buildSmallPage, buildWavesPage } from './pages.ts'
import { usePages } from './use-pages.ts'

const pages = usePages()
const models = {
  small: buildSmallPage(),
  'in waves': buildWavesPage(),
  large: buildFleetPage(3000, 5),
}
const looks = (['in waves', 'large'] as const).flatMap((name) =>
  [desktop, phone].map((viewport) => ({ name, viewport })),
)

it.each(looks)(
  'a plan that is $name has no barriers, $viewport.width pixels wide, light and dark',
  async ({ name, viewport }) => {
    const tab = await pages.open(models[name], { colorScheme: 'light', viewport })
    await tab.evaluate(axe.source)
    const width = await tab.evaluate<number>('document.documentElement.scrollWidth')
    expect(width).toBeLessThanOrEqual(viewport.width)
    expect(await findBarriers(tab)).toEqual([])
    await tab.emulateMedia({ colorScheme: 'dark' })
    expect(await findBarriers(tab, 'html', ['color-contrast'])).toEqual([])
    const cell = tab.locator('[role=gridcell][data-action]').first()
    await cell.click()
    await expect.poll(() => tab.locator('[data-details]').innerText()).not.toBe('')
    for (const part of ['[data-details]', '[role=grid]'])
      expect(await findBarriers(tab, part)).toEqual([])
    await tab.emulateMedia({ colorScheme: 'light' })
    for (const part of ['[data-details]', '[role=grid]'])
      expect(await findBarriers(tab, part, ['color-contrast'])).toEqual([])
  },
)

it.each([desktop, phone])('a table has no barriers, $width pixels wide', async (viewport) => {
  const columns = Array.from({ length: 8 }, (_, i) => `Column ${i}`)
  const rows = Array.from({ length: 50 }, () =>
    columns.map((_, i) => `${'x'.repeat(9 * i)}.example`),
  )
  const about = buildAbout({ warnings: ['A warning.'] })
  const table = formatTable({ caption: 'Owners', columns, rows }, about.redact)
  const html = formatReport(beginPage('owners', '50 domains.', about), table)
  const tab = await pages.open(pages.writeHtml(html), { viewport })
  await tab.evaluate(axe.source)
  const width = await tab.evaluate<number>('document.documentElement.scrollWidth')
  expect(width).toBeLessThanOrEqual(viewport.width)
  for (const colorScheme of ['light', 'dark'] as const) {
    await tab.emulateMedia({ colorScheme })
    expect(await findBarriers(tab)).toEqual([])
  }
})

it('axe finds a barrier where there is one', async () => {
  const tab = await pages.open(models.small)
  await tab.evaluate(axe.source)
  await tab.evaluate(`{
    const text = document.querySelector('main').appendChild(document.createElement('p'))
    text.textContent = 'pale'
    text.style.cssText = 'color: #ccc; background: #fff'
  }`)
  expect((await findBarriers(tab)).join()).toContain('color-contrast')
})

/** Reads the colour behind the page, and the one that people forced. */
const readBackground = `{
  const paint = (element) => getComputedStyle(element).backgroundColor
  const own = [document.body, document.documentElement].map(paint)
  const probe = document.body.appendChild(document.createElement('i'))
  probe.style.backgroundColor = 'Canvas'
  const canvas = paint(probe)
  probe.remove()
  ;({ own: own.find((color) => color !== 'rgba(0, 0, 0, 0)') ?? canvas, canvas })
}`

it('light and dark differ, and forced colours are obeyed', async () => {
  const tab = await pages.open(models.small, { colorScheme: 'light' })
  const read = () => tab.evaluate<{ own: string; canvas: string }>(readBackground)
  const light = await read()
  await tab.emulateMedia({ colorScheme: 'dark' })
  expect((await read()).own).not.toBe(light.own)
  await tab.emulateMedia({ colorScheme: 'dark', forcedColors: 'active' })
  const forced = await read()
  expect(forced.own).toBe(forced.canvas)
})

it('with forced colours changed cells and lit ones differ from the others', async () => {
  const tab = await pages.open(models['in waves'], { forcedColors: 'active' })
  const changed = tab.locator('[role=gridcell][data-action]').first()
  expect(await changed.innerText()).not.toBe('')
  const look = (name: string) =>
    tab.evaluate<string>(`{
      const cell = document.querySelector('[role=gridcell]${name}')
      const style = [getComputedStyle(cell), getComputedStyle(cell.firstElementChild ?? cell)]
      style.map((s) => [s.borderStyle, s.borderColor, s.outlineStyle, s.outlineWidth,
        s.backgroundColor, s.color]).join()
    }`)
  const before = await look('[data-action]:not([data-lit])')
  await changed.hover()
  await tab.locator('[role=gridcell][data-lit]').first().waitFor()
  expect(await look('[data-action][data-lit]')).not.toBe(before)
})
