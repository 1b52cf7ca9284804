import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import axe from 'axe-core'
import type { Page as Tab } from 'playwright-core'
import { afterAll, expect, it } from 'vitest'
import type { FleetRow } from '../../src/core/model/page/fleet.ts'
import { buildFleetRow, namePage } from '../../src/outlets/report/domain/fleet-row.ts'
import {
  describeDomainTab,
  formatDomainPage,
} from '../../src/outlets/report/domain/format-domain-page.ts'
import {
  describeFleetTab,
  formatFleetPage,
} from '../../src/outlets/report/domain/format-fleet-page.ts'
import type { DomainSheet } from '../../src/outlets/report/domain/sheet.ts'
import { formatShell } from '../../src/outlets/report/page/format-shell.ts'
import { style } from '../../src/outlets/report/page/generated/page-assets.ts'
import { findBarriers } from './barriers.ts'
import { desktop, phone } from './open.ts'
import { at, attacks, buildItem, buildRows, buildSheet, now, tablet } from './sheets.ts'
import { usePages } from './use-pages.ts'

const pages = usePages()
const folder = mkdtempSync(join(tmpdir(), 'edgewise-fleet-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Writes the page of a domain beside the style, and returns its address. */
function writeDomain(sheet: DomainSheet): string {
  mkdirSync(join(folder, 'domains'), { recursive: true })
  writeFileSync(join(folder, 'style.css'), style)
  const outcomes = sheet.items.map(({ item }) => [item, { outcome: 'confirmed' as const }] as const)
  const apply = {
    id: 'a1',
    startedAt: at,
    endedAt: at,
    writes: { confirmed: 1, refused: 0, inDoubt: 0, notSent: 0 },
    outcome: 'complete' as const,
    author: 'Ada',
    commit: null,
    items: new Map(outcomes),
  }
  const main = formatDomainPage(sheet, {
    workspace: 'storefront',
    now,
    home: '../index.html',
    applies: Array.from({ length: 25 }, (_, i) => ({ ...apply, id: `a${i}` })),
    findLink: ({ line }) => `https://github.com/example/cdn/blob/4f0c2d9/www.yaml#L${line}`,
    redact: (text) => text,
  })
  const tab = describeDomainTab(sheet)
  const file = join(folder, 'domains', `${namePage(sheet.domain)}.html`)
  writeFileSync(file, formatShell({ ...tab, main, nav: null, styleFile: '../style.css' }))
  return pathToFileURL(file).href.replace('%7E', '~')
}

function writeFleet(rows: FleetRow[]): string {
  const main = formatFleetPage(rows, {
    workspace: 'storefront',
    facts: [['Service', 'https://api.example.net']],
    warnings: ['The manifests have 1 error.'],
    redact: (text) => text,
    address: ['domains/', '.html'],
  })
  const file = join(folder, 'index.html')
  writeFileSync(file, formatShell({ ...describeFleetTab(rows), main, nav: null }))
  return pathToFileURL(file).href
}

const open = (address: string, options = {}) =>
  pages.open(address, { resources: pathToFileURL(join(folder, 'style.css')).href, ...options })
const openDomain = (sheet: DomainSheet, options = {}) =>
  open(writeDomain(sheet), { javaScriptEnabled: false, ...options })
const readNames = (tab: Tab) => tab.locator('.rows .listed a').allInnerTexts()

it.each([desktop, tablet, phone])(
  'the page of a domain has no barriers, $width pixels wide, light and dark',
  async (viewport) => {
    const long = buildItem(`x${'_long'.repeat(30)}`, { value: { time: 'y'.repeat(900) } })
    const address = writeDomain(buildSheet('www.example.com', [long]))
    for (const colorScheme of ['light', 'dark'] as const) {
      // The page has no script: axe needs one.
      const tab = await open(address, { viewport, colorScheme, isWithoutScript: true })
      await tab.evaluate(axe.source)
      expect(await findBarriers(tab)).toEqual([])
      const width = await tab.evaluate<number>('document.documentElement.scrollWidth')
      expect(width).toBeLessThanOrEqual(viewport.width)
      // The style of the file beside it is used.
      expect(await tab.evaluate('getComputedStyle(document.body).margin')).toBe('0px')
    }
  },
)

it('the page of a domain says its state in its tab, and shows all without scripts', async () => {
  const tab = await openDomain(buildSheet('www.example.com'))
  expect(await tab.title()).toBe('in-doubt: www.example.com')
  expect(await tab.locator('link[rel=icon]').getAttribute('href')).toContain('%23d4232b')
  expect(await tab.locator('[data-sentence]').innerText()).toBe(
    '1 of 4 items as recorded; 1 in-doubt; 1 drifted; 1 pending.',
  )
  expect(await tab.locator('.sheet h2').allInnerTexts()).toEqual([
    'https\nin-doubt',
    'origin\ndrifted',
    'timeout\npending',
    'referer\nas recorded',
  ])
  const text = await tab.locator('body').innerText()
  for (const part of ['pending: the next apply makes it so', 'at the service: it has this value'])
    expect(text).toContain(part)
  expect(await tab.locator('.line[data-action=change]').allInnerTexts()).toEqual([
    expect.stringContaining('60 → 61'),
    expect.stringContaining('60 → 61'),
  ])
  expect(text).toContain('As declared:')
  expect(text).not.toContain('As recorded:')
  expect(text).toContain('domains/www.yaml:3')
  expect(await tab.locator('.applies li').count()).toBe(21)
  expect(text).toContain('and 5 earlier applies')
  const pdf = await tab.pdf()
  expect(pdf.subarray(0, 5).toString()).toBe('%PDF-')
})

it('the page of a domain says of a value that no manifest has that it is recorded', async () => {
  const { items, ...sheet } = buildSheet('www.example.com')
  const released = items.map((item) => ({ ...item, value: null, isReleased: true, sources: [] }))
  const tab = await openDomain({ ...sheet, place: null, items: released })
  const text = await tab.locator('body').innerText()
  expect(text).toContain('in no manifest')
  expect(text).toContain('As recorded:')
  expect(text).not.toContain('As declared:')
})

it('keys reach the links of a domain, and the skip link its content', async () => {
  const tab = await openDomain(buildSheet('www.example.com'))
  for (const name of ['Skip to the content', 'All domains', 'domains/www.yaml:3']) {
    await tab.keyboard.press('Tab')
    expect(await tab.locator(':focus').innerText()).toBe(name)
  }
})

it('hostile names are texts in both pages, and lead nowhere else', async () => {
  const sheets = attacks.map((text) =>
    buildSheet(text, [
      buildItem(text, { value: { [text]: text }, unreadable: text, ignored: text }),
    ]),
  )
  const addresses = sheets.map(writeDomain)
  expect(new Set(addresses).size).toBe(attacks.length)
  for (const address of addresses) {
    expect(address).toMatch(/\/domains\/(?:~[0-9a-f]{32}|__proto__)\.html$/)
    await expectInert(await open(address, { isWithoutScript: true }))
  }
  const tab = await open(writeFleet(sheets.map((sheet) => buildFleetRow(sheet))))
  await expectInert(tab)
  expect(await tab.locator('.rows .listed').count()).toBe(attacks.length)
  const links = await tab.evaluate<string[]>('[...document.links].map(({ href }) => href)')
  expect(links.filter((href) => !addresses.includes(href) && !href.endsWith('#main'))).toEqual([])
  for (const attack of attacks)
    await tab.goto(`${writeFleet([])}#domain=${encodeURIComponent(attack)}&state=${attack}`)
  await expectInert(tab)
})

async function expectInert(tab: Tab): Promise<void> {
  expect(await tab.evaluate('window.__hit')).toBeUndefined()
  expect(await tab.locator('main img, main iframe, main base').count()).toBe(0)
  expect(await tab.locator('[onerror], [onload], [onfocus]').count()).toBe(0)
}

it.each([desktop, tablet, phone])(
  'the list has no barriers, $width pixels wide, light and dark',
  async (viewport) => {
    const tab = await open(writeFleet(buildRows(3000)), { viewport, colorScheme: 'light' })
    await tab.evaluate(axe.source)
    expect(await findBarriers(tab)).toEqual([])
    await tab.emulateMedia({ colorScheme: 'dark' })
    expect(await findBarriers(tab, 'html', ['color-contrast'])).toEqual([])
    const width = await tab.evaluate<number>('document.documentElement.scrollWidth')
    expect(width).toBeLessThanOrEqual(viewport.width)
    const rows = await tab.locator('.rows .listed').count()
    expect(rows).toBeLessThan(60)
  },
)

it('the search and the state filter, and stay in the address', async () => {
  const tab = await open(writeFleet(buildRows(3000)))
  expect(await tab.locator('[data-sentence]').innerText()).toMatch(/^2,59\d of 3,000 domains as/)
  expect(await tab.locator('.rows .tag').first().innerText()).toBe('in-doubt')
  await tab.locator('input[name=domain]').fill('MEDIA-1.')
  await expect.poll(() => tab.locator('[data-count]').innerText()).toBe('10 of 3,000 domains')
  await tab.locator('select[name=state]').selectOption('recorded')
  const names = await readNames(tab)
  expect(names.length).toBeGreaterThan(0)
  expect(names.every((name) => name.includes('media-1.'))).toBe(true)
  expect(new URL(tab.url()).hash).toBe('#domain=MEDIA-1.&state=recorded')
  await tab.reload()
  expect(await readNames(tab)).toEqual(names)
  expect(await tab.locator('input[name=domain]').inputValue()).toBe('MEDIA-1.')
  await tab.locator('input[name=domain]').fill('nothing like that')
  await expect.poll(() => tab.locator('.fleet .none').isVisible()).toBe(true)
})

it('sorts by a column, finds owners, and keeps both in the address', async () => {
  const rows: FleetRow[] = [
    { domain: 'a.example.com', state: 'recorded', items: 9, requests: 20, owners: 'Team-Shop' },
    { domain: 'b.example.com', state: 'drifted', items: 10, drifted: 2, confirmedAt: at },
    { domain: 'c.example.com', state: 'recorded', items: 100, requests: 3, owners: 'team-api' },
  ]
  const tab = await open(writeFleet(rows))
  const expectOrder = async (letters: string) =>
    expect
      .poll(() => readNames(tab))
      .toEqual(Array.from(letters, (letter) => `${letter}.example.com`))
  await expectOrder('bac')
  await tab.locator('select[name=sort]').selectOption('Items')
  await expectOrder('cba')
  await tab.locator('select[name=sort]').selectOption('Requests a day')
  await expectOrder('acb')
  await tab.locator('select[name=sort]').selectOption('Owners')
  await expectOrder('bca')
  await tab.locator('input[name=domain]').fill('TEAM')
  await expectOrder('ca')
  expect(new URL(tab.url()).hash).toBe('#domain=TEAM&sort=Owners')
  await tab.reload()
  await expectOrder('ca')
  await tab.locator('input[name=domain]').fill('undefined')
  await expectOrder('')
})

it('keys move through the list, and open a domain', async () => {
  const rows = buildRows(500)
  const tab = await open(writeFleet(rows))
  await tab.locator('select[name=sort]').focus()
  await tab.keyboard.press('Tab')
  const focused = () => tab.locator(':focus').innerText()
  const first = await focused()
  await tab.keyboard.press('ArrowDown')
  expect(await focused()).not.toBe(first)
  await tab.keyboard.press('End')
  expect(await tab.locator('.rows .listed:has(:focus)').getAttribute('aria-rowindex')).toBe('501')
  await tab.keyboard.press('Home')
  expect(await focused()).toBe(first)
  writeDomain(buildSheet(first))
  await tab.keyboard.press('Enter')
  await tab.waitForURL(/\/domains\//)
  expect(await tab.locator('h1').innerText()).toBe(first)
  await tab.locator('.eyebrow a').click()
  await tab.waitForURL(/index\.html/)
  pages.faults.splice(0)
})

it('without scripts a table has the first domains; on paper the list has all', async () => {
  const address = writeFleet(buildRows(400))
  const plain = await open(address, { javaScriptEnabled: false })
  expect(await plain.locator('tbody tr').count()).toBe(300)
  expect(await plain.locator('caption').innerText()).toBe('The first 300 of 400 domains')
  expect(await plain.locator('input, select').count()).toBe(0)
  const tab = await open(address)
  await tab.evaluate("dispatchEvent(new Event('beforeprint'))")
  await tab.emulateMedia({ media: 'print' })
  expect(await tab.locator('.rows .listed').count()).toBe(400)
  expect(await tab.locator('input[name=domain]').isVisible()).toBe(false)
})

it('10,000 domains are small and quick', async () => {
  const tab = await open(writeFleet(buildRows(10_000)))
  const ready = await tab.evaluate<number>("performance.getEntriesByName('ready')[0].startTime")
  const nodes = await tab.evaluate<number>("document.querySelectorAll('*').length")
  console.log(`10,000 domains: ready after ${ready.toFixed(0)} ms, ${nodes} elements`)
  expect(ready).toBeLessThan(10_000)
  expect(nodes).toBeLessThan(1000)
})
