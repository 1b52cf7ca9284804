/**
 * Takes pictures of pages for people to look at: `npx tsx tools/page-screenshots.ts FOLDER`. Each
 * page is taken in full, on a desktop and a phone, light and dark.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { findChromium, isProgram } from '../test/browser/find-chromium.ts'
import { buildHistoryModel } from '../test/browser/histories.ts'
import { desktop, Pages, phone } from '../test/browser/open.ts'
import { buildEffectsPage } from '../test/report/page/effects-page.ts'
import { buildFleetPage, buildSmallPage, buildWavesPage } from '../test/browser/pages.ts'
import { buildManyWavesPage, buildWorsePage } from '../test/browser/rollout-pages.ts'

const folder = process.argv[2]
if (folder === undefined) throw new Error('expected the folder of the pictures as an argument')
const models = {
  small: buildSmallPage(),
  waves: buildWavesPage(),
  effects: buildEffectsPage(['https://www.example.com/', 'https://www.example.com/a.jpg']),
  fleet: buildFleetPage(3000, 5),
  rollout: buildWorsePage(),
  'many-waves': buildManyWavesPage(50, 60),
  history: buildHistoryModel(48, 5),
}
mkdirSync(folder, { recursive: true })
const pages = new Pages()
await pages.start(findChromium(process.env, isProgram))
try {
  for (const [name, model] of Object.entries(models))
    for (const viewport of [desktop, phone])
      for (const colorScheme of ['light', 'dark'] as const) {
        const tab = await pages.open(model, { viewport, colorScheme })
        const path = join(folder, `${name}-${viewport.width}-${colorScheme}.png`)
        await tab.screenshot({ path, fullPage: true })
        await pages.closeTabs()
      }
  console.log(`pictures in ${folder}`)
} finally {
  await pages.stop()
}
for (const fault of pages.faults) console.error(fault)
if (pages.faults.length > 0) process.exitCode = 1
