/** Keeps a page of a server up to date: ages, a notice of news, and one of a lost connection. */

/** Wait between two questions to the server, ms. */
const pollMs = 10_000

const nav = document.querySelector<HTMLElement>('nav[data-live]')
const news = document.querySelector<HTMLElement>('[data-news]')
let failedSince: Date | null = null
let timer: number | undefined

/** Keeps a page of a server up to date; a file has no navigation bar. */
export function watchServer(): void {
  drawAges()
  if (nav === null || news === null) return
  document.addEventListener('visibilitychange', () => schedule(nav, news, 0))
  schedule(nav, news, pollMs)
}

function schedule(bar: HTMLElement, notice: HTMLElement, ms: number): void {
  clearTimeout(timer)
  if (document.visibilityState === 'visible')
    timer = window.setTimeout(() => void look(bar, notice), ms)
}

/** Asks the server whether there is news. */
async function look(bar: HTMLElement, notice: HTMLElement): Promise<void> {
  drawAges()
  const key = bar.dataset['live'] ?? ''
  try {
    const answer = await fetch('/live', { headers: { Accept: 'application/json' } })
    if (answer.status === 401) return showNotice(notice, 'The session has ended.', 'Log in')
    if (!answer.ok) throw new Error(String(answer.status))
    const { revisions } = (await answer.json()) as { revisions: Record<string, string> }
    failedSince = null
    if (revisions[key] === bar.dataset['revision']) notice.replaceChildren()
    else if (isUnused()) return location.reload()
    else showNotice(notice, 'There is news.', 'Show it')
  } catch (error) {
    if (!(error instanceof Error)) throw error
    failedSince ??= new Date()
    showNotice(notice, `The server has not answered since ${failedSince.toLocaleTimeString()}.`, '')
  }
  schedule(bar, notice, pollMs)
}

/** Returns whether a reload takes nothing from the reader: neither place, focus nor selection. */
function isUnused(): boolean {
  const { activeElement } = document
  const hasFocus = activeElement !== null && activeElement !== document.body
  const isOpen = document.querySelector('details[open], [data-details]:not([hidden])') !== null
  return !hasFocus && !isOpen && scrollY === 0 && location.hash === ''
}

function showNotice(notice: HTMLElement, text: string, action: string): void {
  if (notice.dataset['text'] === text && notice.childNodes.length > 0) return
  notice.dataset['text'] = text
  notice.replaceChildren(text)
  if (action === '') return
  const button = document.createElement('button')
  button.className = 'button secondary'
  button.textContent = action
  button.addEventListener('click', () => location.reload())
  notice.append(' ', button)
}

/** Appends the age to each time that has none yet, or another one. */
function drawAges(): void {
  for (const time of document.querySelectorAll<HTMLTimeElement>('time[data-age]')) {
    const minutes = Math.floor((Date.now() - Date.parse(time.dateTime)) / 60_000)
    if (Number.isNaN(minutes)) continue
    time.dataset['age'] = `(${formatMinutes(Math.max(0, minutes))})`
  }
}

function formatMinutes(minutes: number): string {
  if (minutes < 1) return 'just now'
  if (minutes < 60) return `${minutes} min ago`
  return minutes < 48 * 60
    ? `${Math.floor(minutes / 60)} h ago`
    : `${Math.floor(minutes / 1440)} d ago`
}
