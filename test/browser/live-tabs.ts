import type { Browser, BrowserContextOptions, Page as Tab } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest'
import type { OpenRollout, Overview } from '../../src/core/model/listed-rollout.ts'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import { approve, pause, resume, abort } from '../../src/engine/rollout/decide.ts'
import { describeEnd } from '../../src/engine/rollout/conflicts.ts'
import type { PageSource } from '../../src/server/pages/create-page-source.ts'
import { apiToken, closeHttp, startHttp, type HttpStage } from '../server/http-stage.ts'
import { createPages, openRollout, waiting } from '../server/page-stage.ts'
import { desktop, launch } from './open.ts'

const by = { author: 'root@server', at: '2026-01-02T03:04:05.000Z' }

/** A server whose rollout can be decided, and what browsers did there. */
export interface LiveStage {
  http: HttpStage
  /** What the server shows from now on. */
  show(overview: Overview): void
  /** Opens a page without a session. */
  open(path?: string, options?: BrowserContextOptions): Promise<Tab>
  /** Opens a page, and logs in. */
  enter(path?: string, options?: BrowserContextOptions): Promise<Tab>
  /** What pages must not do: errors on the console, dialogs, requests to others. */
  faults: string[]
}

/** Gives the tests of a file a browser and a server each; no page may do what none may. */
export function useLiveTabs(): { start(own?: Partial<PageSource>): Promise<LiveStage> } {
  let browser: Browser | null = null
  const faults: string[] = []
  beforeAll(async () => {
    browser = await launch(inject('chromium'))
  })
  afterEach(async () => {
    for (const context of browser?.contexts() ?? []) await context.close()
    await closeHttp()
    expect(faults.splice(0)).toEqual([])
  })
  afterAll(() => browser?.close())
  const start = async (source: Partial<PageSource> = {}): Promise<LiveStage> => {
    let overview = waiting()
    const http = await startHttp({
      pages: createPages({ overview: async () => overview, ...source }),
      decide: async (verb, id, _identity, step) => {
        const open = overview.rollouts.find(({ rollout }) => rollout.id === id)
        if (open === undefined) return null
        if (step !== undefined && step !== open.step) throw createMoved()
        const decided = { approve, pause, resume, abort }[verb](open.rollout, by)
        const isOpen = decided.rollout.state === 'open'
        const rollouts: OpenRollout[] = isOpen ? [openRollout(decided.rollout)] : []
        // The next apply of the tip finds what it has left.
        const left = isOpen ? [] : [`30 changes on hold ${describeEnd(decided.rollout)}`]
        const applied = overview.applied && { ...overview.applied, left }
        overview = { ...overview, rollouts, applied, ended: isOpen ? [] : [decided.rollout] }
        return decided
      },
    })
    const open = async (path = '/', options: BrowserContextOptions = {}) => {
      if (browser === null) throw new Error('no browser runs')
      const own = { locale: 'en-US', viewport: desktop, reducedMotion: 'reduce' } as const
      const tab = await (await browser.newContext({ ...own, ...options })).newPage()
      tab.on('console', (message) => {
        // Browsers report each page with such a status: the login, and a refused decision.
        if (message.type() === 'error' && !/status of (401|409)/.test(message.text()))
          faults.push(message.text())
      })
      tab.on('pageerror', (error) => faults.push(String(error)))
      tab.on('request', (request) => {
        if (!request.url().startsWith(`${http.url}/`) && !request.url().startsWith('data:'))
          faults.push(`request: ${request.url()}`)
        if (request.url().includes(apiToken)) faults.push('the token is in an address')
      })
      await tab.goto(http.url + path)
      return tab
    }
    return {
      http,
      faults,
      show: (next) => {
        overview = next
      },
      open,
      enter: async (path, options) => {
        const tab = await open(path, options)
        await tab.locator('#token').fill(apiToken)
        await tab.keyboard.press('Enter')
        await tab.locator('nav.live').waitFor()
        return tab
      },
    }
  }
  return { start }
}

const createMoved = () => new EdgewiseError('usage', 'rollout r1 is no longer as it was shown')
