import axe from 'axe-core'
import type { Page as Tab } from 'playwright-core'
import { expect, it } from 'vitest'
import type { PagePoint } from '../../src/core/model/page/page-rollout.ts'
import { buildFleetRow, namePage } from '../../src/outlets/report/domain/fleet-row.ts'
import {
  describeDomainTab,
  formatDomainParts,
} from '../../src/outlets/report/domain/format-domain-page.ts'
import {
  describeFleetTab,
  formatFleetPage,
} from '../../src/outlets/report/domain/format-fleet-page.ts'
import { formatOpenChanges, listOpenChanges } from '../../src/outlets/report/domain/open-changes.ts'
import type { DomainStatistics, StatusSeries } from '../../src/outlets/report/live/status-codes.ts'
import { computeRevisions } from '../../src/server/pages/create-page-source.ts'
import { parseDomainPages, type DomainPages } from '../../src/server/pages/domain-pages.ts'
import { buildOverview, headCommit, openRollout } from '../server/page-stage.ts'
import { findBarriers } from './barriers.ts'
import { useLiveTabs } from './live-tabs.ts'
import { desktop, phone } from './open.ts'
import { at, attacks, buildItem, buildSheet, now, tablet } from './sheets.ts'

const { start } = useLiveTabs()
const shop = 'shop-1.example.com'
const startS = Date.parse(at) / 1000
const hostile = buildSheet(attacks[0] ?? '', [
  buildItem(attacks[1] ?? '', { value: { [attacks[2] ?? '']: 'x' } }),
])

const overview = buildOverview({ rollouts: [openRollout()] })

/** Builds the pages of domains as the server gets them from its process. */
function buildPages(): DomainPages {
  const sheets = [buildSheet(shop), buildSheet('img.example.com'), hostile]
  const items = new Map([['timeout', { outcome: 'confirmed' as const }]])
  const apply = {
    id: attacks[4] ?? '',
    startedAt: at,
    endedAt: at,
    writes: { confirmed: 1, refused: 0, inDoubt: 0, notSent: 0 },
    outcome: 'complete' as const,
    author: 'Ada',
    commit: null,
    items,
  }
  const texts = sheets.map((sheet) =>
    JSON.stringify({
      ...describeDomainTab(sheet),
      domain: sheet.domain,
      ...formatDomainParts(sheet, {
        workspace: 'storefront',
        now,
        home: '/domains',
        applies: [apply],
        findLink: () => null,
        redact: (text) => text,
        checkedAt: at,
      }),
      applies: [[apply.id, at]],
    }),
  )
  const rows = sheets.map((sheet) => buildFleetRow(sheet))
  const about = { workspace: 'storefront', facts: [], warnings: [], redact: (text: string) => text }
  const main = formatFleetPage(rows, { ...about, address: ['/domains/', ''] })
  const changes = formatOpenChanges(sheets.flatMap(listOpenChanges), (text) => text)
  const list = { ...describeFleetTab(rows), sentence: '3 domains', main, changes }
  const pages = sheets.map(({ domain }, i) => [namePage(domain), texts[i]?.length])
  const { plan: revision } = computeRevisions(overview)
  const text = `${JSON.stringify({ list, pages })}\n${texts.join('')}`
  return parseDomainPages({ text, format: () => '', at, commit: headCommit, revision })
}

const buildSeries = (hours: number, seconds: number): StatusSeries => {
  const count = (hours * 3600) / seconds
  const points = Array.from({ length: count }, (_, i): PagePoint => {
    const [all, bad] = [1000 + (i % 24) * 30, i > count / 2 ? 12 : 2]
    return [startS + (i - count / 2) * seconds, all, bad, all - bad - 8, 5, 3, bad, 0]
  })
  return { span: [startS - hours * 1800, startS + hours * 1800], seconds, points }
}
const statistics = (): Promise<DomainStatistics> =>
  Promise.resolve({ at, day: buildSeries(24, 300), week: buildSeries(168, 3600) })
const trace = ({ url }: { url: string }) =>
  Promise.resolve({
    recorded: `It is denied.\n${url}\noutcome denied`,
    desired: `It is served.\n${url}\noutcome served`,
  })
const own = {
  domains: () => Promise.resolve(buildPages()),
  getDomains: buildPages,
  overview: () => Promise.resolve(overview),
  statistics,
  trace,
}
const expectInert = async (tab: Tab) => {
  expect(await tab.evaluate('window.__hit')).toBeUndefined()
  expect(await tab.locator('main img, main iframe, main base, [onerror]').count()).toBe(0)
}

it.each([desktop, tablet, phone])(
  'the page of a domain has no barriers, $width pixels wide, light and dark',
  async (viewport) => {
    const stage = await start(own)
    const tab = await stage.enter(`/domains/${shop}?url=https://${shop}/`, { viewport })
    for (const path of [`/domains/${shop}?url=https://${shop}/`, '/domains', '/']) {
      await tab.goto(stage.http.url + path)
      await tab.evaluate(axe.source)
      for (const colorScheme of ['light', 'dark'] as const) {
        await tab.emulateMedia({ colorScheme })
        expect(await findBarriers(tab)).toEqual([])
      }
      const width = await tab.evaluate<number>('document.documentElement.scrollWidth')
      expect(width).toBeLessThanOrEqual(viewport.width)
    }
    const picture = process.env['EDGEWISE_PICTURES']
    if (picture !== undefined) {
      await tab.goto(`${stage.http.url}/domains/${shop}?url=https://${shop}/`)
      for (const colorScheme of ['light', 'dark'] as const) {
        await tab.emulateMedia({ colorScheme })
        const path = `${picture}/domain-${viewport.width}-${colorScheme}.png`
        await tab.screenshot({ path, fullPage: true })
        await tab.goto(`${stage.http.url}/`)
        await tab.screenshot({ path: path.replace('domain-', 'overview-'), fullPage: true })
      }
    }
  },
)

it('a reader finds a domain, its rollout and its status codes, and tries a request', async () => {
  const stage = await start(own)
  const tab = await stage.enter('/')
  await tab.getByRole('link', { name: 'Domains', exact: true }).click()
  await tab.locator('input[name=domain]').fill('SHOP-1')
  await expect.poll(() => tab.locator('[data-count]').innerText()).toBe('1 of 3 domains')
  await tab.getByRole('link', { name: shop }).click()
  await tab.waitForURL(/\/domains\/shop-1/)
  expect(await tab.title()).toBe(`in-doubt: ${shop}`)
  expect(await tab.locator('.callout').first().innerText()).toBe(
    'Rollout r1: this domain is in wave 2. Wave 2 of 3 waits for approval: 5 domains.',
  )
  const codes = tab.locator('#status-codes')
  expect(await codes.locator('.canvas .share').count()).toBe(2)
  expect(await codes.innerText()).toMatch(/Last day\s+[\d,]+ requests: 2xx 9\d\.\d\d %/)
  await tab.locator('#url').fill(`https://${shop}/a?b=<c>`)
  await tab.keyboard.press('Enter')
  await tab.waitForURL(/url=/)
  expect(await tab.locator('pre').allInnerTexts()).toEqual([
    `https://${shop}/a?b=<c>\noutcome denied`,
    `https://${shop}/a?b=<c>\noutcome served`,
  ])
  await tab.getByRole('link', { name: 'Rollout r1' }).click()
  expect(await tab.locator('h1').innerText()).toBe('Rollout r1')
  expect(await tab.locator('.changes').innerText()).toContain(shop)
  expect(await tab.locator('.open').innerText()).toContain('Left to change')
})

it('without scripts the page of a domain has all, and its form works', async () => {
  const stage = await start(own)
  const tab = await stage.enter(`/domains/${shop}`, { javaScriptEnabled: false })
  expect(await tab.locator('#status-codes .canvas').count()).toBe(2)
  await tab.getByRole('button', { name: 'Trace' }).click()
  expect(await tab.locator('pre').count()).toBe(2)
})

it('hostile names, values and applies are texts', async () => {
  const stage = await start(own)
  const path = `/domains/${namePage(hostile.domain)}`
  const tab = await stage.enter(path)
  await tab.goto(`${stage.http.url}${path}?url=${encodeURIComponent(attacks[2] ?? '')}`)
  await expectInert(tab)
  expect(await tab.locator('#url').inputValue()).toBe(attacks[2])
  await tab.goto(`${stage.http.url}/domains`)
  await expectInert(tab)
})

it('on paper the status codes and the items stay readable', async () => {
  const stage = await start(own)
  const tab = await stage.enter(`/domains/${shop}`)
  await tab.emulateMedia({ media: 'print' })
  expect(await tab.locator('#status-codes .canvas').first().isVisible()).toBe(true)
  expect((await tab.pdf()).subarray(0, 5).toString()).toBe('%PDF-')
})
