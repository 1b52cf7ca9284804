import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A page of `--report` to take a picture of. */
export interface PagePicture {
  /** The file, `….png`; `…-dark.png` is beside it. */
  path: string
  html: string
  /** Of the address of the page, with `#`; empty for none. */
  fragment: string
  /** Selector of the part that is shown; empty for the first screen. */
  part: string
}

const size = { width: 1180, height: 760 }
const schemes = ['light', 'dark'] as const

/**
 * Hashes what a picture was made from and its files: the page with its style and its script,
 * without its times, commits and ids. Browsers of two versions draw different bytes of it. Null if
 * a file is missing.
 */
export function hashPagePicture(root: string, picture: PagePicture): string | null {
  const files = schemes.map((scheme) => join(root, nameFile(picture.path, scheme)))
  if (!files.every((file) => existsSync(file))) return null
  const hash = createHash('sha256')
  hash.update(JSON.stringify([size, picture.fragment, picture.part, fixTimes(picture.html)]))
  for (const file of files) hash.update(readFileSync(file))
  return hash.digest('hex')
}

/** Takes both pictures of a page in Chromium, at fixed times. */
export async function takePagePicture(root: string, picture: PagePicture): Promise<void> {
  // Only a picture needs a browser, its check does not.
  const { findChromium, isProgram } = await import('../test/browser/find-chromium.ts')
  const { Pages } = await import('../test/browser/open.ts')
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-picture-'))
  const pages = new Pages()
  await pages.start(findChromium(process.env, isProgram))
  try {
    const file = join(folder, 'page.html')
    writeFileSync(file, fixTimes(picture.html))
    for (const colorScheme of schemes) {
      const tab = await pages.open(pathToFileURL(file).href, {
        hash: picture.fragment,
        viewport: size,
        colorScheme,
      })
      const shown = picture.part === '' ? tab : tab.locator(picture.part)
      await shown.screenshot({ path: join(root, nameFile(picture.path, colorScheme)) })
    }
  } finally {
    await pages.stop()
    rmSync(folder, { recursive: true })
  }
  if (pages.faults.length > 0) throw new Error(pages.faults.join('\n'))
}

/** Replaces the times, commits and ids of applies of a page, which differ from run to run. */
export function fixTimes(html: string): string {
  return html
    .replaceAll(/\d{8}T\d{6}Z-[0-9a-f]{4}\b/g, '20260105T090000Z-4f0c')
    .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '2026-01-05T09:00:00Z')
    .replaceAll(/\b[0-9a-f]{40}\b/g, '4f0c2d9e1a7b4f0c2d9e1a7b4f0c2d9e1a7b4f0c')
    .replaceAll(/\b(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{12}\b/g, '4f0c2d9e1a7b')
}

function nameFile(path: string, scheme: (typeof schemes)[number]): string {
  return scheme === 'light' ? path : path.replace(/\.png$/, `-${scheme}.png`)
}
