import type { Page as Tab } from 'playwright-core'
import { expect, it } from 'vitest'
import { readFocus } from './grid.ts'
import { buildFleetPage, buildWavesPage } from './pages.ts'
import { usePages } from './use-pages.ts'

const pages = usePages()
const page = buildWavesPage()

/** Goes to the matrix by Tab alone. */
async function tabToGrid(tab: Tab): Promise<void> {
  for (let pressed = 0; pressed < 60; pressed++) {
    await tab.keyboard.press('Tab')
    if ((await readFocus(tab)) !== null) return
  }
  throw new Error('60 times Tab do not reach the matrix')
}

/** Presses a key and returns the cell that has the focus then. */
async function press(tab: Tab, key: string) {
  await tab.keyboard.press(key)
  return readFocus(tab)
}

it('arrows move between cells, and stop at the edges', async () => {
  const tab = await pages.open(page)
  await tabToGrid(tab)
  const first = await press(tab, 'Control+Home')
  const right = await press(tab, 'ArrowRight')
  expect(right).toMatchObject({ domain: first?.domain })
  expect(right?.item).not.toBe(first?.item)
  const below = await press(tab, 'ArrowDown')
  expect(below).toMatchObject({ item: right?.item })
  expect(below?.domain).not.toBe(first?.domain)
  await press(tab, 'ArrowUp')
  expect(await press(tab, 'ArrowLeft')).toEqual(first)
  expect(await press(tab, 'ArrowUp')).toEqual(first)
})

it('keys reach the last of 3,000 domains, which is then in view', async () => {
  const fleet = buildFleetPage(3000, 5)
  const tab = await pages.open(fleet)
  await tabToGrid(tab)
  expect((await press(tab, 'Control+End'))?.domain).toBe(fleet.domains.at(-1))
  expect(await isFocusInView(tab)).toBe(true)
  for (let pressed = 0; pressed < 3; pressed++) await tab.keyboard.press('PageUp')
  expect((await readFocus(tab))?.domain).not.toBe(fleet.domains.at(-1))
  expect(await isFocusInView(tab)).toBe(true)
})

it('Enter opens the details of a change, and Escape returns to its cell', async () => {
  const tab = await pages.open(page)
  const details = tab.locator('[data-details]')
  await tabToGrid(tab)
  await tab.keyboard.press('Control+Home')
  const cell = await findChanged(tab)
  const before = await details.innerText()
  await tab.keyboard.press('Enter')
  await expect.poll(() => details.innerText()).not.toBe(before)
  expect(await details.isVisible()).toBe(true)
  const text = await details.innerText()
  expect(text).toContain(cell.domain)
  expect(text).toContain(cell.item)
  expect(text).toMatch(/seconds: \d+/)
  await tab.keyboard.press('Escape')
  await expect.poll(() => readFocus(tab)).toEqual(cell)
  expect((await details.isVisible()) && (await details.innerText()) === text).toBe(false)
})

it('a button that goes away leaves the focus where the reader was', async () => {
  const tab = await pages.open(page)
  await tabToGrid(tab)
  await tab.keyboard.press('Control+Home')
  const cell = await findChanged(tab)
  await tab.keyboard.press('Enter')
  const close = tab.locator('[data-details] button', { hasText: 'Close' })
  await close.focus()
  await tab.keyboard.press('Enter')
  await expect.poll(() => readFocus(tab)).toEqual(cell)

  const fleet = await pages.open(buildFleetPage(400, 4))
  const more = fleet.locator('button', { hasText: /^Show \d+ more/ }).first()
  await more.focus()
  await fleet.keyboard.press('Enter')
  await expect.poll(() => fleet.evaluate('document.activeElement.tagName')).not.toBe('BODY')
})

it('Tab reaches all that can be used, in the order of the page, and leaves it', async () => {
  const tab = await pages.open(page)
  const usable = await tab.evaluate<number>(listUsable)
  expect(usable).toBeGreaterThan(5)
  const reached: number[] = []
  for (let pressed = 0; pressed <= usable + 1; pressed++) {
    await tab.keyboard.press('Tab')
    const at = await tab.evaluate<number>('usable.indexOf(document.activeElement)')
    if (at === -1) break
    reached.push(at)
  }
  expect(reached).toEqual(Array.from({ length: usable }, (_, i) => i))
})

it('writes are reached by keys, each with a focus that can be seen', async () => {
  const tab = await pages.open(page)
  const first = page.writes[0]?.id ?? 0
  await tab.locator(`[data-write="${first}"]`).focus()
  const seen = new Set<string>()
  for (let pressed = 0; pressed < page.writes.length + 2; pressed++) {
    const write = await tab.evaluate<string | undefined>('document.activeElement.dataset.write')
    if (write === undefined) break
    seen.add(write)
    const style = await tab.evaluate<string>(
      "{ const s = getComputedStyle(document.activeElement); s.outlineStyle + ' ' + s.boxShadow }",
    )
    expect(style).not.toBe('none none')
    await tab.keyboard.press('ArrowDown')
    const isSame = await tab.evaluate<boolean>(
      `document.activeElement.dataset.write === ${JSON.stringify(write)}`,
    )
    if (isSame) await tab.keyboard.press('Tab')
  }
  expect([...seen]).toEqual(page.writes.map(({ id }) => String(id)))
})

/** Keeps all elements that Tab should reach in `usable`, and counts them. */
const listUsable = `
  const all = document.querySelectorAll('a[href], button, input, select, summary, [tabindex]')
  window.usable = [...all].filter(
    (e) => e.tabIndex >= 0 && !e.disabled && e.checkVisibility({ checkVisibilityCSS: true }),
  )
  usable.length`

async function isFocusInView(tab: Tab): Promise<boolean> {
  return tab.evaluate<boolean>(`{
    const { activeElement } = document
    const id = activeElement.getAttribute('aria-activedescendant')
    const cell = id ? document.getElementById(id) : activeElement
    const { left, top, width, height } = cell.getBoundingClientRect()
    const hit = document.elementFromPoint(left + width / 2, top + height / 2)
    cell === hit || cell.contains(hit)
  }`)
}

/** Goes right and down until a changed cell has the focus. */
async function findChanged(tab: Tab): Promise<{ domain: string; item: string }> {
  for (let row = 0; row < page.domains.length; row++) {
    for (const _ of page.items) {
      const cell = await readFocus(tab)
      const found = page.changes.some(
        ({ domain, part }) =>
          page.domains[domain] === cell?.domain &&
          page.items[page.parts[part]?.item ?? -1] === cell?.item,
      )
      if (cell !== null && found) return cell
      await tab.keyboard.press('ArrowRight')
    }
    await tab.keyboard.press('Home')
    await tab.keyboard.press('ArrowDown')
  }
  throw new Error('no changed cell')
}
