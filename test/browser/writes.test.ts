import type { Page as Tab } from 'playwright-core'
import { expect, it } from 'vitest'
import type { Page } from '../../src/core/model/page/page.ts'
import { Draws } from '../health/draws.ts'
import { nameCell, readCells } from './grid.ts'
import { buildFleetPage, buildWavesPage } from './pages.ts'
import { usePages } from './use-pages.ts'

const pages = usePages()
const small = buildWavesPage()
const fleet = buildFleetPage(400, 4)
const draws = new Draws(7)
const drawn = Array.from({ length: 4 }, () => Math.floor(draws.next() * fleet.writes.length))

/** Lists the cells of the rectangles of writes. */
function listRectangles(page: Page, writes: number[]): Set<string> {
  const cells = writes.flatMap((write) => {
    const { domains = [], items = [] } = page.writes[write] ?? {}
    return domains.flatMap((domain) => items.map(({ item }) => nameAt(page, domain, item)))
  })
  return new Set(cells)
}

function nameAt(page: Page, domain: number, item: number): string {
  return nameCell({ domain: page.domains[domain] ?? '', item: page.items[item] ?? '' })
}

/** Expects that the rendered cells of writes are lit, at least one, and no other cell. */
async function expectLit(tab: Tab, page: Page, ...writes: number[]): Promise<void> {
  const rectangle = listRectangles(page, writes)
  await expect
    .poll(async () => {
      const cells = await readCells(tab)
      const lit = cells.filter(({ isLit }) => isLit).map(nameCell)
      const expected = cells.map(nameCell).filter((name) => rectangle.has(name))
      return { lit: lit.toSorted(), isAsExpected: lit.length > 0 && lit.join() === expected.join() }
    })
    .toEqual({ lit: expect.any(Array), isAsExpected: true })
}

async function expectDark(tab: Tab): Promise<void> {
  await expect
    .poll(async () => (await readCells(tab)).filter(({ isLit }) => isLit).map(nameCell))
    .toEqual([])
}

it('pointing at a write, or its focus, lights its rectangle as long as it lasts', async () => {
  const tab = await pages.open(small)
  await expectDark(tab)
  for (const [position, { id }] of small.writes.entries()) {
    await tab.locator(`[data-write="${id}"]`).hover()
    await expectLit(tab, small, position)
  }
  await tab.locator('h1').first().hover()
  await expectDark(tab)
  await tab.locator('[data-write="2"]').focus()
  await expectLit(tab, small, 1)
})

it('a chosen cell of a fleet lights the rectangles of its writes alone, and it stays', async () => {
  const address = pages.write(fleet)
  const tab = await pages.open(address)
  for (const at of drawn) {
    const change = fleet.changes.find(({ writes }) => writes.includes(at))
    if (change === undefined) throw new Error('each write makes a change')
    const item = fleet.items[fleet.parts[change.part]?.item ?? -1]
    await tab.goto(`${address}#cell=${fleet.domains[change.domain]}/${item}`)
    await expectLit(tab, fleet, ...change.writes)
    await tab.locator('h1').first().hover()
    await expectLit(tab, fleet, ...change.writes)
  }
})

it('a chosen write of a fleet lights its rectangle, and it stays', async () => {
  const address = pages.write(fleet)
  const tab = await pages.open(address)
  for (const at of drawn) {
    await tab.goto(`${address}#write=${fleet.writes[at]?.id}`)
    await expectLit(tab, fleet, at)
  }
  await tab.locator('h1').first().hover()
  await expectLit(tab, fleet, drawn[3] ?? -1)
})

it('pointing at a cell lights the rectangles of its writes', async () => {
  const tab = await pages.open(small)
  const cell = tab.locator('[role=gridcell][data-action]').first()
  await cell.hover()
  const { domain = '', item = '' } =
    (await readCells(tab)).find(({ action }) => action !== '') ?? {}
  const change = small.changes.find(
    (each) =>
      small.domains[each.domain] === domain &&
      small.items[small.parts[each.part]?.item ?? -1] === item,
  )
  expect(change?.writes).toHaveLength(1)
  await expectLit(tab, small, change?.writes[0] ?? -1)
})
