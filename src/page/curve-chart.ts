import uPlot from 'uplot'
import type { PageCurve } from '../model/page-rollout.ts'
import {
  computeChartData,
  computeShare,
  describeCurve,
  describePoint,
  formatShare,
  formatUtc,
} from './curve-text.ts'
import { h } from './dom.ts'
import { formatCount } from './words.ts'

/** Height of a chart, CSS pixels. */
const height = 170
const daySeconds = 86_400
/** Distances between times of the axis, seconds. */
const steps = [60, 300, 600, 1800, 3600, 7200, 21_600, 43_200, ...listDays([1, 2, 7, 14])]
/** Colours on paper, which is white. */
const paper = { bad: '#a0151b', ink: '#151a21', soft: '#4f5966', line: '#dce0e6', tint: '#c9ced6' }
type Colors = typeof paper

/** A chart of the share of bad answers of a wave over time. */
export class CurveChart {
  readonly element: HTMLElement
  private readonly box = h('div', { class: 'canvas' })
  private readonly readout = h('p', { 'aria-hidden': 'true' })
  private readonly curve: PageCurve
  private readonly plot: uPlot
  private colors: Colors

  /** @param parent is in the document, and as wide as the chart */
  constructor(curve: PageCurve, parent: HTMLElement) {
    this.curve = curve
    this.box.setAttribute('role', 'img')
    this.box.setAttribute('aria-label', describeCurve(curve))
    const key = h('figcaption', { class: 'key soft' }, createKey(curve), this.readout)
    this.element = h('figure', {}, this.box, key)
    parent.append(this.element)
    this.colors = readColors(this.box)
    this.plot = this.createPlot()
  }

  /** Draws the chart in the width of its place. */
  fit(): void {
    const width = Math.floor(this.box.clientWidth)
    if (width > 0 && width !== this.plot.width) this.plot.setSize({ width, height })
  }

  /** Draws the chart in the present colours, or in those of paper. */
  recolor(isPrinted: boolean): void {
    this.colors = isPrinted ? paper : readColors(this.box)
    // Bars keep the colour of their path.
    this.plot.redraw(true, true)
  }

  private createPlot(): uPlot {
    const { curve } = this
    const { times, shares, requests, positions } = computeChartData(curve)
    const top = computeTop(curve)
    const most = requests.reduce<number>((a, b) => Math.max(a, b ?? 0), 1)
    const bars = uPlot.paths.bars?.({ size: [1, Infinity], gap: 1 })
    const axis = {
      stroke: () => this.colors.soft,
      font: '12px system-ui, sans-serif',
      ticks: { show: false },
    }
    const options: uPlot.Options = {
      width: Math.max(200, Math.floor(this.box.clientWidth)),
      height,
      padding: [14, 22, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
      scales: {
        x: { time: false, range: () => [curve.before[0], curve.after[1]] },
        share: { range: () => [0, top] },
        // The bars stay below the line.
        requests: { range: () => [0, 4 * most] },
      },
      axes: [
        {
          ...axis,
          scale: 'x',
          incrs: steps,
          space: 62,
          size: 26,
          grid: { show: false },
          values: (_, splits) => formatTimes(splits),
        },
        {
          ...axis,
          scale: 'share',
          space: 34,
          size: 54,
          grid: { stroke: () => this.colors.line, width: 1 },
          values: (_, splits) => splits.map((value) => `${Number(value.toFixed(2))} %`),
        },
      ],
      series: [
        {},
        {
          scale: 'requests',
          fill: () => this.colors.tint,
          stroke: () => this.colors.tint,
          width: 0,
          points: { show: false },
          ...(bars === undefined ? {} : { paths: bars }),
        },
        {
          scale: 'share',
          stroke: () => this.colors.bad,
          width: 2,
          points: { show: true, size: times.length < 12 ? 8 : 5, fill: () => this.colors.bad },
        },
      ],
      hooks: {
        draw: [(plot) => this.drawMarks(plot)],
        setCursor: [
          ({ cursor: { idx } }) => {
            const position = positions[idx ?? -1] ?? null
            this.readout.textContent = position === null ? '' : describePoint(curve, position)
          },
        ],
      },
    }
    return new uPlot(options, [times, requests, shares], this.box)
  }

  /** Draws when the wave was written, and the share before it as a line. */
  private drawMarks(plot: uPlot): void {
    const { ctx, bbox } = plot
    const { curve, colors } = this
    const { devicePixelRatio: ratio } = window
    const at = (time: number) => plot.valToPos(time, 'x', true)
    ctx.save()
    const [from, to] = [at(curve.written[0]), at(curve.written[1])]
    ctx.fillStyle = colors.ink
    ctx.globalAlpha = 0.35
    ctx.fillRect(from, bbox.top, Math.max(2 * ratio, to - from), bbox.height)
    ctx.globalAlpha = 1
    ctx.font = `${11 * ratio}px system-ui, sans-serif`
    ctx.textAlign = 'center'
    ctx.textBaseline = 'bottom'
    ctx.fillText('written', (from + to) / 2, bbox.top - ratio)
    const level = findLevel(curve)
    if (level !== null) {
      const y = Math.round(plot.valToPos(level, 'share', true))
      ctx.strokeStyle = colors.ink
      ctx.lineWidth = 2 * Math.round(ratio)
      ctx.setLineDash([6 * ratio, 4 * ratio])
      ctx.beginPath()
      ctx.moveTo(bbox.left, y)
      ctx.lineTo(bbox.left + bbox.width, y)
      ctx.stroke()
    }
    ctx.restore()
  }
}

/** Creates the key: what each line, bar and band of the chart is. */
function createKey(curve: PageCurve): HTMLElement {
  const most = curve.points.reduce((a, [, requests]) => Math.max(a, requests), 0)
  const level = findLevel(curve)
  const entry = (kind: string, text: string) =>
    h('li', {}, h('span', { class: 'sample', 'data-kind': kind, 'aria-hidden': 'true' }), text)
  const list = h('ul', {}, entry('bad', `share of ${curve.statuses}`))
  if (level !== null) list.append(entry('level', `before the wave: ${formatShare(level)}`))
  list.append(entry('requests', `requests, up to ${formatCount(most)} a period`))
  return list
}

function findLevel({ baseline: { requests, bad } }: PageCurve): number | null {
  return computeShare([0, requests, bad, 0, 0, 0, 0, 0])
}

/** Computes the top of the axis: at least one percent, so that noise does not look like a rise. */
function computeTop(curve: PageCurve): number {
  const shares = curve.points.map((point) => computeShare(point) ?? 0)
  return Math.min(100, Math.max(1, 1.2 * shares.reduce((a, b) => Math.max(a, b), 0)))
}

/** Formats times of an axis; the start of a day by its date. */
function formatTimes(times: number[]): string[] {
  return times.map((time) =>
    time % daySeconds === 0 ? formatUtc(time, true).slice(5, 10) : formatUtc(time),
  )
}

/** Reads the colours of the style sheet, also where people forced others. */
function readColors(element: HTMLElement): Colors {
  const probe = h('i', { hidden: true })
  element.append(probe)
  const read = (name: string, isForced = true): string => {
    probe.style.setProperty('forced-color-adjust', isForced ? 'auto' : 'none')
    probe.style.color = `var(${name})`
    return getComputedStyle(probe).color
  }
  const colors = {
    bad: read('--unset'),
    ink: read('--ink'),
    soft: read('--soft'),
    // Forced colours are only text and ground; these two stay behind the others.
    line: read('--grid', false),
    tint: read('--bar', false),
  }
  probe.remove()
  return colors
}

function listDays(counts: number[]): number[] {
  return counts.map((count) => count * daySeconds)
}
