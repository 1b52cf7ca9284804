import type { PageCurve } from '../model/page-rollout.ts'
import { computeShare, formatShare, formatUtc } from './curve-text.ts'
import { h } from './dom.ts'
import { formatCount, formatNoun } from './words.ts'

const heads = ['Time (UTC)', 'Window', 'Requests', 'Bad', 'Share', '2xx', '3xx', '4xx', '5xx']

/** Creates the table of a curve, folded; its rows are created when it is opened. */
export function createCurveTable(curve: PageCurve): HTMLElement {
  const { points, statuses } = curve
  const label = `The ${formatNoun(points.length, 'period')} in a table`
  const details = h('details', { class: 'points' }, h('summary', {}, label))
  const open = () => {
    if (details.open && details.childElementCount === 1) details.append(createRows(curve, statuses))
  }
  details.addEventListener('toggle', open)
  return details
}

function createRows({ points, before }: PageCurve, statuses: string): HTMLElement {
  const body = h('tbody')
  for (const point of points) {
    const [time, requests, bad, ...classes] = point
    const row = h('tr', {}, h('th', { scope: 'row' }, formatUtc(time, true)))
    const cells = [
      time < before[1] ? 'before' : 'after',
      formatCount(requests),
      formatCount(bad),
      formatShare(computeShare(point)),
      ...classes.map(formatCount),
    ]
    row.append(...cells.map((text) => h('td', {}, text)))
    body.append(row)
  }
  const columns = [...heads, 'Other'].map((text) => h('th', { scope: 'col' }, text))
  return h(
    'div',
    { class: 'port', tabindex: 0, role: 'region', 'aria-label': 'Periods' },
    h(
      'table',
      {},
      h('caption', { class: 'soft' }, `Bad: ${statuses}`),
      h('thead', {}, h('tr', {}, ...columns)),
      body,
    ),
  )
}
