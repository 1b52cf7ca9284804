import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page as Tab } from 'playwright-core'
import { expect, it } from 'vitest'
import { buildFleetPage } from './pages.ts'
import { usePages } from './use-pages.ts'

const pages = usePages()
/** Far above what is expected: a page that hangs is red, a slow machine is not. */
const limit = 10_000

/** Milliseconds from the start of the navigation until the page can be used. */
function readReady(tab: Tab): Promise<number> {
  return tab.evaluate<number>("performance.getEntriesByName('ready')[0].startTime")
}

/** Milliseconds from a typed letter to the next frame that shows its effect. */
async function timeKey(tab: Tab, text: string): Promise<number> {
  return tab.evaluate<number>(`new Promise((resolve) => {
    const input = document.querySelector('input[name=domain]')
    input.focus()
    const from = performance.now()
    document.execCommand('insertText', false, ${JSON.stringify(text)})
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - from)))
  })`)
}

function countNodes(tab: Tab): Promise<number> {
  return tab.evaluate<number>("document.querySelectorAll('*').length")
}

it.each([
  ['3,000 domains, 5,000 changes', buildFleetPage(3000, 5), 5],
  ['10,000 domains', buildFleetPage(10_000, 5), 5],
  ['10,000 domains, each with a write of its own', buildFleetPage(10_000, 5, 1), 5],
])('%s are small and quick', async (name, page, megabytes) => {
  const address = pages.write(page)
  const bytes = statSync(fileURLToPath(address)).size
  const tab = await pages.open(address)
  const ready = await readReady(tab)
  const keys = [await timeKey(tab, 's'), await timeKey(tab, 'h'), await timeKey(tab, 'o')]
  const heap = await tab.evaluate<number>('performance.memory.usedJSHeapSize')
  const nodes = await countNodes(tab)
  console.log(
    `${name}: ${page.changes.length} changes, ${page.writes.length} writes, ` +
      `${(bytes / 1e6).toFixed(2)} MB, ready after ${ready.toFixed(0)} ms, filtered ` +
      `${keys.map((ms) => ms.toFixed(0)).join(', ')} ms after a key, ${nodes} elements, ` +
      `heap ${(heap / 1e6).toFixed(0)} MB`,
  )
  expect(bytes).toBeLessThan(megabytes * 1e6)
  expect(ready).toBeLessThan(limit)
  expect(keys.every((ms) => ms < limit)).toBe(true)
  expect(nodes).toBeLessThan(5000)
})

it('what is scrolled through is removed again', async () => {
  const tab = await pages.open(buildFleetPage(10_000, 5))
  const grid = tab.locator('[role=grid]')
  const box = await grid.boundingBox()
  if (box === null) throw new Error('the matrix is not visible')
  await tab.mouse.move(box.x + box.width / 2, box.y + Math.min(box.height, 300) / 2)
  for (let turn = 0; turn < 20; turn++) {
    await tab.mouse.wheel(0, 3000)
    await tab.evaluate('new Promise(requestAnimationFrame)')
  }
  expect(await countNodes(tab)).toBeLessThan(5000)
  expect(await tab.locator('[role=gridcell][data-action]').count()).toBeGreaterThan(0)
})
