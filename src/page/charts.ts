/** Adds charts and tables to the health of the waves, which the page has as text. */
import type { PageWaveHealth } from '../model/page-rollout.ts'
import { CurveChart } from './curve-chart.ts'
import { createCurveTable } from './curve-table.ts'

const data = document.querySelector('#curves')?.textContent ?? '[]'
const waves = JSON.parse(data) as Pick<PageWaveHealth, 'wave' | 'curve'>[]
const charts = new Map<HTMLElement, CurveChart>()
const curves = new Map(waves.map(({ wave, curve }) => [String(wave), curve]))
const places = [...document.querySelectorAll<HTMLElement>('[data-chart]')]

/** Creates the chart of a place, unless it has one. */
function draw(place: HTMLElement): void {
  const curve = curves.get(place.dataset['chart'] ?? '') ?? null
  if (curve === null || charts.has(place)) return
  charts.set(place, new CurveChart(curve, place))
  place.append(createCurveTable(curve))
  sizes.observe(place)
}

const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) if (target instanceof HTMLElement) charts.get(target)?.fit()
})
// Charts of waves that nobody opens or scrolls to would cost time.
const visible = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting || !(target instanceof HTMLElement)) continue
      visible.unobserve(target)
      draw(target)
    }
  },
  { rootMargin: '300px' },
)
for (const place of places) visible.observe(place)

const recolor = (isPrinted: boolean) => {
  for (const chart of charts.values()) chart.recolor(isPrinted)
}
for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)'])
  matchMedia(query).addEventListener('change', () => recolor(matchMedia('print').matches))

/** Waves that are closed, but not on paper. */
let opened: HTMLDetailsElement[] = []
addEventListener('beforeprint', () => {
  opened = [...document.querySelectorAll<HTMLDetailsElement>('[data-fold]:not([open])')]
  for (const fold of opened) fold.open = true
  for (const place of places) draw(place)
  recolor(true)
})
addEventListener('afterprint', () => {
  for (const fold of opened) fold.open = false
  opened = []
  recolor(false)
})
