import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page as Tab } from 'playwright-core'
import { expect, it } from 'vitest'
import { readCells } from './grid.ts'
import { buildHostilePage } from './pages.ts'
import { usePages } from './use-pages.ts'

const pages = usePages()
const attacks = [
  '<script>window.__hit=1</script>',
  '</script><script>window.__hit=2</script>',
  '</ScRiPt ><svg onload=window.__hit=3>',
  '</style><img src=x onerror=window.__hit=4>',
  '"><img src=https://example.com/x onerror=alert(5)>',
  "' autofocus onfocus=window.__hit=6 x='",
  'javascript:window.__hit=7',
  '<!--<script>',
  '--><script>window.__hit=8</script>',
  '<iframe srcdoc="<script>parent.__hit=9</script>"></iframe>',
  '<base href=https://example.com/><meta http-equiv=refresh content=0>',
  '</textarea></title></noscript></template><script>window.__hit=10</script>',
  '${window.__hit=11}{{constructor.constructor("window.__hit=12")()}}',
  "$& $` $' $1 $$",
  'before\u2028after\u2029end',
  '\u202Egnp.exe\u202C \u2066isolate',
  'nul\u0000nul \u0007\u001b[31m',
  '\ud800 lone surrogate',
  '&lt;b&gt; &amp;amp;',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toString/valueOf#?&=%00%',
  '',
]

async function expectInert(tab: Tab): Promise<void> {
  expect(await tab.evaluate('window.__hit')).toBeUndefined()
  expect(await tab.evaluate('({}).polluted')).toBeUndefined()
  expect(await tab.evaluate('document.scripts.length')).toBeLessThanOrEqual(2)
  expect(await tab.locator('main img, main iframe, main base, main script').count()).toBe(0)
  expect(await tab.locator('[onerror], [onload], [onfocus], [srcdoc]').count()).toBe(0)
  const links = await tab.evaluate<string[]>('[...document.links].map(({ href }) => href)')
  expect(links.filter((href) => !href.startsWith('file:'))).toEqual([])
}

it('hostile texts are shown as texts, and run nothing', async () => {
  const tab = await pages.open(buildHostilePage(attacks))
  await expectInert(tab)
  const text = await tab.locator('body').innerText()
  for (const attack of attacks.filter((each) => /^[\x20-\x7e]+$/.test(each)))
    expect(text).toContain(attack.replaceAll(/ +/g, ' '))
})

it('hostile texts are cells that filters, keys and details use', async () => {
  const page = buildHostilePage(attacks)
  const tab = await pages.open(page)
  for (const attack of ['__proto__', 'constructor', attacks[1] ?? '']) {
    await tab.locator('input[name=domain]').fill(attack)
    await tab.locator('select[name=item]').selectOption(attack)
    const shown = async () => (await readCells(tab)).filter(({ action }) => action !== '')
    await expect.poll(async () => (await shown()).map(({ domain }) => domain)).toEqual([attack])
    await tab.locator('[role=gridcell][data-action]').click()
    const details = tab.locator('[data-details]')
    await expect.poll(() => details.innerText()).toContain(attack)
    await expectInert(tab)
    await tab.keyboard.press('Escape')
  }
})

it('a hostile hash runs nothing', async () => {
  const address = pages.write(buildHostilePage(attacks))
  const tab = await pages.open(address)
  for (const attack of attacks.slice(0, 8)) {
    const text = encodeURIComponent(attack)
    const filters = ['domain', 'item', 'action', 'write', 'wave'].map((name) => `${name}=${text}`)
    for (const hash of [filters.join('&'), `cell=${text}/${text}`, text]) {
      await tab.goto(`${address}#${hash}`)
      await expectInert(tab)
    }
  }
})

it('without JavaScript hostile texts are inert too', async () => {
  const tab = await pages.open(buildHostilePage(attacks), { javaScriptEnabled: false })
  expect(await tab.locator('img, iframe, base, svg[onload]').count()).toBe(0)
  const text = await tab.locator('body').innerText()
  expect(text).toContain('<!--<script>')
})

it('texts of 1 MB leave the file and the page of a usual size', async () => {
  const long = ['a', '<b>', '\u202e', '字'].map((unit) => unit.repeat(2 ** 20 / unit.length))
  const address = pages.write(buildHostilePage(long))
  expect(readFileSync(fileURLToPath(address)).length).toBeLessThan(5e6)
  const tab = await pages.open(address)
  const cell = tab.locator('[role=gridcell][data-action]').first()
  await cell.click()
  await expect.poll(() => tab.locator('[data-details]').innerText()).toContain('aaaa')
  const width = await tab.evaluate<number>('document.documentElement.scrollWidth')
  expect(width).toBeLessThanOrEqual(1440)
  await expectInert(tab)
})
