import type { Page as Tab } from 'playwright-core'
import { expect, it } from 'vitest'
import { listChanges, nameCell, readCells } from './grid.ts'
import { waitUntilReady } from './open.ts'
import { buildFleetPage, buildWavesPage } from './pages.ts'
import { usePages } from './use-pages.ts'

const pages = usePages()
const page = buildWavesPage()
const changes = listChanges(page)

/** Expects that the matrix and the count show these changes, and no others. */
async function expectShown(tab: Tab, expected: typeof changes): Promise<void> {
  await expect.poll(async () => await readChanged(tab)).toEqual(expected.map(nameCell).toSorted())
  await expect
    .poll(() => tab.locator('[data-count]').innerText())
    .toMatch(new RegExp(`(^|\\D)${expected.length}\\D`))
}

async function readChanged(tab: Tab): Promise<string[]> {
  const cells = await readCells(tab)
  return cells
    .filter(({ action }) => action !== '')
    .map(nameCell)
    .toSorted()
}

it('the domain filters as it is typed, in any case', async () => {
  const tab = await pages.open(page)
  await tab.locator('input[name=domain]').pressSequentially('.FR.')
  await expectShown(
    tab,
    changes.filter(({ domain }) => domain.includes('.fr.')),
  )
  await tab.locator('input[name=domain]').fill('')
  await expectShown(tab, changes)
})

it('drift filters by kind, also by a link', async () => {
  const parts = page.parts.map((part, i) => ({
    ...part,
    kinds: i % 2 === 0 ? ['at the service'] : ['pending', 'on hold'],
  }))
  const drift = { ...page, parts }
  const expected = changes.filter((_, i) => (page.changes[i]?.part ?? 0) % 2 === 0)
  const tab = await pages.open(drift)
  await tab.locator('select[name=kind]').selectOption('at the service')
  await expectShown(tab, expected)
  expect(expected.length).toBeGreaterThan(0)
  expect(expected.length).toBeLessThan(changes.length)
  expect(new URL(tab.url()).hash).toBe('#kind=at+the+service')
})

it('filters add up, and one that nothing passes is no error', async () => {
  const tab = await pages.open(page)
  await tab.locator('select[name=wave]').selectOption('2')
  let expected = changes.filter(({ waves }) => waves.includes(2))
  await expectShown(tab, expected)
  await tab.locator('select[name=action]').selectOption('change')
  expected = expected.filter(({ action }) => action === 'change')
  await expectShown(tab, expected)
  const { item = '', writes = [] } = expected[0] ?? {}
  await tab.locator('select[name=item]').selectOption(item)
  expected = expected.filter((change) => change.item === item)
  await expectShown(tab, expected)
  await tab.locator('input[name=write]').fill(String((writes[0] ?? 0) + 1))
  expected = expected.filter((change) => change.writes.includes(writes[0] ?? -1))
  await expectShown(tab, expected)
  expect(expected.length).toBeGreaterThan(0)
  await tab.locator('input[name=domain]').fill('no such domain')
  await expectShown(tab, [])
  await tab.locator('.clear').click()
  await expectShown(tab, changes)
})

it('a wave of the drawing filters by it, and keeps the other filters', async () => {
  const tab = await pages.open(page)
  await tab.locator('input[name=domain]').fill('shop')
  const link = tab.getByRole('link', { name: 'Wave 3' })
  await link.click()
  const own = changes.filter(({ domain }) => domain.includes('shop'))
  await expectShown(
    tab,
    own.filter(({ waves }) => waves.includes(3)),
  )
  expect(await link.getAttribute('aria-current')).toBe('true')
  await link.click()
  await expectShown(tab, own)
})

it('the count announces itself', async () => {
  const tab = await pages.open(page)
  const region = tab.locator('[data-count]')
  const live = await region.evaluate((element) => {
    const own = element.closest('[aria-live], [role=status]')
    return own?.getAttribute('aria-live') ?? own?.getAttribute('role')
  })
  expect(['polite', 'status']).toContain(live)
})

it('the address keeps the filters over a reload, and a link opens them', async () => {
  const tab = await pages.open(page)
  await tab.locator('select[name=wave]').selectOption('3')
  await tab.locator('input[name=domain]').fill('shop')
  const expected = changes.filter(
    ({ waves, domain }) => waves.includes(3) && domain.includes('shop'),
  )
  await expectShown(tab, expected)
  await expect.poll(() => new URL(tab.url()).hash).toContain('shop')
  await tab.reload()
  await waitUntilReady(tab)
  await expectShown(tab, expected)
  expect(await tab.locator('select[name=wave]').inputValue()).toBe('3')

  const linked = await pages.open(page, { hash: new URL(tab.url()).hash })
  await expectShown(linked, expected)
  expect(await linked.locator('input[name=domain]').inputValue()).toBe('shop')
})

it('back and forward restore the filters', async () => {
  const tab = await pages.open(page)
  await tab.locator('select[name=wave]').selectOption('1')
  await tab.locator('select[name=wave]').selectOption('2')
  const inWave = (wave: number) => changes.filter(({ waves }) => waves.includes(wave))
  await expectShown(tab, inWave(2))
  await tab.goBack()
  await expectShown(tab, inWave(1))
  expect(await tab.locator('select[name=wave]').inputValue()).toBe('1')
  await tab.goForward()
  await expectShown(tab, inWave(2))
})

const oddHashes = ['#', '#wave=x&write=1e9', '#%', '#domain=%00%ff', '#cell=__proto__/constructor']

it('a hash that nobody made is no error', async () => {
  const tab = await pages.open(page)
  for (const hash of oddHashes) {
    await tab.goto(`${tab.url().split('#')[0]}${hash}`)
    await tab.reload()
    await waitUntilReady(tab)
    expect(await tab.locator('[role=grid]').count()).toBe(1)
  }
})

it('filters find what is far out of view among 3,000 domains', async () => {
  const fleet = buildFleetPage(3000, 5)
  const last = fleet.domains.at(-1) ?? ''
  const tab = await pages.open(fleet)
  expect((await readCells(tab)).map(({ domain }) => domain)).not.toContain(last)
  await tab.locator('input[name=domain]').fill(last)
  await expectShown(
    tab,
    listChanges(fleet).filter(({ domain }) => domain.includes(last)),
  )
})
