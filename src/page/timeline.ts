import type { PageWave } from '../model/page.ts'
import { h, svg, toggle } from './dom.ts'
import type { Store } from './store.ts'
import { formatClock, formatCount, formatDuration, formatNoun } from './words.ts'

/** The waves in order, each with its writes over time, then the wait after it. */
export class Timeline {
  readonly element: HTMLElement
  private readonly store: Store
  private readonly lights: { wave: number; path: SVGElement; button: HTMLElement }[] = []

  constructor(store: Store) {
    this.store = store
    const { page } = store.index
    const last = page.waves.at(-1)
    const whole = last === undefined ? 0 : last.to + last.waitSeconds
    const text =
      `${formatNoun(page.writes.length, 'write')} at ${formatCount(page.callsPerMinute)} calls ` +
      `a minute${whole > 0 ? `: at least ${formatDuration(whole)}` : ''}`
    this.element = h('section', { class: 'panel timeline', 'aria-labelledby': 'th' })
    const list = h('ol', { 'data-timeline': true }, ...page.waves.flatMap((w) => this.describe(w)))
    this.element.append(
      h('div', { class: 'bar' }, h('h2', { id: 'th' }, 'When'), h('p', { class: 'soft' }, text)),
      list,
    )
    this.element.hidden = page.waves.length === 0
  }

  /** Marks the chosen wave. */
  draw(): void {
    const { view } = this.store
    for (const { wave, button } of this.lights)
      button.setAttribute('aria-pressed', String(wave === view.wave))
    this.light()
  }

  /** Marks the lit writes. */
  light(): void {
    const { index, lit } = this.store
    for (const { wave, path, button } of this.lights) {
      const times = lit.flatMap((write) => {
        const found = index.page.writes[write]
        return found?.wave === wave ? found.seconds : []
      })
      const drawn = index.page.waves.find((other) => other.wave === wave)
      path.setAttribute('d', drawn === undefined ? '' : drawTicks(drawn, times))
      toggle(button, 'data-lit', times.length > 0)
    }
  }

  private describe(wave: PageWave): Node[] {
    const { page } = this.store.index
    const writes = page.writes.filter((write) => write.wave === wave.wave)
    const path = svg('path', { class: 'lit' })
    // A wave of one instant has no time to draw.
    const isInstant = page.waves.length === 1 && wave.to === wave.from
    const ticks = svg(
      'svg',
      {
        class: 'ticks',
        viewBox: '0 0 1000 10',
        preserveAspectRatio: 'none',
        'aria-hidden': 'true',
      },
      svg('path', {
        d: drawTicks(
          wave,
          writes.map(({ seconds }) => seconds),
        ),
      }),
      path,
    )
    const button = h(
      'button',
      { type: 'button', class: 'wave', 'data-wave': wave.wave },
      h('b', {}, page.waves.length === 1 ? 'All writes' : `Wave ${formatCount(wave.wave)}`),
      h('span', { class: 'soft' }, describeSize(wave, writes.length)),
    )
    const ends = [wave.from, wave.to].map((seconds) => h('i', {}, formatClock(seconds)))
    if (!isInstant) button.append(ticks, h('span', { class: 'ends' }, ...ends))
    this.lights.push({ wave: wave.wave, path, button })
    button.addEventListener('click', () => {
      const isChosen = this.store.view.wave === wave.wave
      this.store.change({ wave: isChosen ? null : wave.wave, write: null })
    })
    const step = h('li', { class: 'step' }, button)
    step.style.flexGrow = String(Math.max(1, Math.log2(2 + wave.to - wave.from)))
    const gate = h('li', { class: 'gate' }, h('b', { 'aria-hidden': 'true' }, '◆'))
    gate.append(h('span', {}, 'Needs approval'))
    const wait = h('li', { class: 'wait' }, h('b', {}, formatDuration(wave.waitSeconds)))
    wait.append(h('span', {}, 'health check and pause'))
    return [...(wave.needsApproval ? [gate] : []), step, ...(wave.waitSeconds > 0 ? [wait] : [])]
  }
}

function describeSize({ domains }: PageWave, writes: number): string {
  return `${formatNoun(domains, 'domain')}, ${formatNoun(writes, 'write')}`
}

/** Draws a line for each time, at its place in the wave. */
function drawTicks({ from, to }: PageWave, times: number[]): string {
  const places = times.map((time) =>
    (5 + (990 * (time - from)) / Math.max(1, to - from)).toFixed(1),
  )
  return [...new Set(places)].map((x) => `M${x} 0V10`).join('')
}
