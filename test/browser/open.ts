import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type Page as Tab,
} from 'playwright-core'
import type { Page } from '../../src/core/model/page/page.ts'
import { formatPage } from '../../src/outlets/report/page/format-page.ts'

/** Root and CI need no sandbox; nothing of the browser's own goes to the network. */
const args = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
export const desktop = { width: 1440, height: 900 }
export const phone = { width: 390, height: 844 }

/** Starts the browser. */
export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args })
}

export interface Options extends BrowserContextOptions {
  /** Of the address, with `#`. */
  hash?: string
  /** Address of a file that the page may load, such as its style. */
  resources?: string
  /** Whether the page has no script that says when it is ready. */
  isWithoutScript?: boolean
}

/** A browser with pages; each is closed after the test that opened it. */
export class Pages {
  #browser: Browser | null = null
  readonly #folder = mkdtempSync(join(tmpdir(), 'edgewise-pages-'))
  #files = 0
  /** What a page must not do: messages on its console, errors, dialogs, requests. */
  readonly faults: string[] = []

  async start(executablePath: string): Promise<void> {
    this.#browser = await launch(executablePath)
  }

  /** Writes a page to a file and returns its address. */
  write(page: Page): string {
    return this.writeHtml(formatPage(page))
  }

  /** Writes HTML to a file and returns its address. */
  writeHtml(html: string): string {
    const file = join(this.#folder, `${++this.#files}.html`)
    writeFileSync(file, html)
    return pathToFileURL(file).href
  }

  /** Opens a page, given itself or by its address, and waits until it can be used. */
  async open(page: Page | string, given: Options = {}): Promise<Tab> {
    const { hash = '', resources = '', isWithoutScript = false, ...options } = given
    if (this.#browser === null) throw new Error('no browser runs')
    const context = await this.#browser.newContext({
      locale: 'en-US',
      viewport: desktop,
      reducedMotion: 'reduce',
      ...options,
    })
    const url = typeof page === 'string' ? page : this.write(page)
    const tab = await context.newPage()
    tab.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.faults.push(message.text())
    })
    tab.on('pageerror', (error) => this.faults.push(String(error)))
    tab.on('dialog', (dialog) => {
      this.faults.push(`dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    tab.on('request', (request) => {
      if (![url, resources].includes(request.url().split('#')[0] ?? ''))
        this.faults.push(`request: ${request.url()}`)
    })
    await tab.goto(url + hash)
    if (options.javaScriptEnabled !== false && !isWithoutScript) await waitUntilReady(tab)
    return tab
  }

  async closeTabs(): Promise<void> {
    for (const context of this.#browser?.contexts() ?? []) await context.close()
  }

  async stop(): Promise<void> {
    await this.#browser?.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** Waits until a page has rendered itself. */
export async function waitUntilReady(tab: Tab): Promise<void> {
  await tab.locator('html[data-ready="true"]').waitFor({ state: 'attached' })
}
