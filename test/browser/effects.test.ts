import axe from 'axe-core'
import type { Page as Tab } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { buildChangedSides, buildEffectsPage } from '../report/page/effects-page.ts'
import { findBarriers } from './barriers.ts'
import { readCells } from './grid.ts'
import { desktop, phone } from './open.ts'
import { usePages } from './use-pages.ts'

const pages = usePages()
const at = 'https://www.example.com'
const page = buildEffectsPage([`${at}/`, `${at}/a.jpg`])

const tried = (tab: Tab) => tab.locator('[data-tried]')

/** Types a request, and tries it. */
async function attempt(tab: Tab, url: string, headers = ''): Promise<string> {
  await tab.locator('[name=url]').fill(url)
  await tab.locator('[name=headers]').fill(headers)
  await tab.getByRole('button', { name: 'Try' }).click()
  return tried(tab).innerText()
}

describe('the effects of a plan', () => {
  it('are readable without scripts', async () => {
    const tab = await pages.open(page, { javaScriptEnabled: false })
    const text = await tab.locator('[data-effects]').innerText()
    expect(text).toContain('4 requests traced')
    expect(text).toMatch(/outcome\s+served → denied/)
    expect(await tab.locator('.try').count()).toBe(0)
  })

  it('link to the changes of an item', async () => {
    const tab = await pages.open(page)
    await tab.locator('[data-effects] a', { hasText: 'referer' }).first().click()
    const shown = async () => (await readCells(tab)).filter(({ action }) => action !== '')
    await expect.poll(async () => (await shown()).map(({ item }) => item)).toEqual(['referer'])
    expect(await tab.locator('select[name=item]').inputValue()).toBe('referer')
  })
})

describe('the box in which a request is tried', () => {
  it('tells what happens before and after, and shows the answers that change', async () => {
    const tab = await pages.open(page)
    const text = await attempt(tab, `${at}/a.jpg`, 'Referer: https://foe.example/\n*')
    expect(text).toMatch(/Before\s+Served\. Cached for 5 seconds by "ext jpg"/)
    expect(text).toMatch(/After\s+Denied with 403 by referer: no entry matches\./)
    expect(text).toMatch(/cache\.policy\s+cache → not served/)
    await tab.locator('[name=ip]').fill('192.0.2.1')
    expect(await attempt(tab, `${at}/a.jpg`, 'referer')).toMatch(
      /cache\.seconds\s+5 seconds → 6 seconds/,
    )
  })

  it('says what is no request, and which host the plan does not change', async () => {
    const tab = await pages.open(page)
    expect(await attempt(tab, 'www.example.com')).toBe(
      'This is no request: the URL must begin with http:// or https:// and a host: ' +
        '"www.example.com". Did you mean "https://www.example.com"?',
    )
    expect(await attempt(tab, 'https://other.example/')).toBe(
      'The plan does not change other.example.',
    )
  })

  it('says if nothing changes', async () => {
    const { after } = buildChangedSides().domains[0]!.read()
    const read = () => ({ before: after, after })
    const domains = [{ domain: 'www.example.com', read }]
    const tab = await pages.open(buildEffectsPage([], { ...buildChangedSides(), domains }))
    const text = await attempt(tab, `${at}/`, '*')
    expect(text).toMatch(/^Served\. /)
    expect(text).toContain('The plan changes nothing for this request.')
  })

  it('is used by keys alone', async () => {
    const tab = await pages.open(page)
    await tab.locator('[name=url]').focus()
    await tab.keyboard.press('Enter')
    await expect.poll(() => tried(tab).innerText()).toContain('Served.')
    const names: string[] = []
    for (let pressed = 0; pressed < 4; pressed++) {
      await tab.keyboard.press('Tab')
      names.push(await tab.evaluate<string>('document.activeElement.name ?? ""'))
    }
    expect(names).toEqual(['method', 'ip', 'headers', ''])
    await tab.locator('[name=url]').fill('x')
    await tab.getByRole('button', { name: 'Try' }).focus()
    await tab.keyboard.press('Space')
    await expect.poll(() => tried(tab).innerText()).toContain('This is no request')
    expect(await tab.evaluate('location.hash')).toBe('')
  })

  it('takes hostile texts as texts', async () => {
    const attack = '<img src=x onerror="window.__hit=1"><script>window.__hit=2</script>'
    const tab = await pages.open(buildEffectsPage([`${at}/?${attack}`, `${at}/'"${attack}`]))
    for (const url of [attack, `${at}/${attack}`, `https://${attack}/`])
      for (const headers of ['', `referer: ${attack}`, `${attack}: x`, '__proto__: x\n*'])
        expect(await attempt(tab, url, headers)).not.toBe('')
    expect(await tab.evaluate('window.__hit')).toBeUndefined()
    expect(await tab.locator('main img, main script, [onerror]').count()).toBe(0)
    expect(await tab.locator('[data-effects]').innerText()).toContain('onerror')
  })

  it('says how many domains did not fit, and is missing without changed domains', async () => {
    const names = Array.from({ length: 203 }, (_, i) => `d${i}.example.com`)
    const tab = await pages.open(buildEffectsPage([], buildChangedSides(names)))
    expect(await tab.locator('.effects').innerText()).toContain(
      'Only the first 200 of 203 changed domains can be tried.',
    )
    const empty = await pages.open(buildEffectsPage([], buildChangedSides([])))
    expect(await empty.locator('.try').count()).toBe(0)
  })
})

const looks = [desktop, phone].flatMap((viewport) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ colorScheme, viewport })),
)

it.each(looks)('have no barriers, $colorScheme, $viewport.width pixels wide', async (look) => {
  const { viewport } = look
  const long = buildEffectsPage([`${at}/${'a'.repeat(300)}`, `${at}/${'b/'.repeat(100)}.jpg`])
  const tab = await pages.open(long, look)
  await attempt(tab, `${at}/${'c'.repeat(300)}.jpg`, 'Referer: https://foe.example/')
  await tab.evaluate(axe.source)
  expect(await findBarriers(tab)).toEqual([])
  const width = await tab.evaluate<number>('document.documentElement.scrollWidth')
  expect(width).toBeLessThanOrEqual(viewport.width)
})
