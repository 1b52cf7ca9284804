/** Shows the figures of the period of a curve that the reader points at. */
export function showPeriods(): void {
  for (const curve of document.querySelectorAll<HTMLElement>('.curve')) {
    const canvas = curve.querySelector('.canvas')
    const readout = curve.querySelector('figcaption p')
    canvas?.addEventListener('mousemove', (event) => {
      if (!(event instanceof MouseEvent) || readout === null) return
      const { left, width } = canvas.getBoundingClientRect()
      const [from, to] = [Number(curve.dataset['from']), Number(curve.dataset['to'])]
      const time = from + ((event.clientX - left) / width) * (to - from)
      readout.textContent = describe(curve, time, Number(curve.dataset['period']))
    })
  }
}

/** Describes the period at a time, from the table of the curve; empty between the windows. */
function describe(curve: HTMLElement, time: number, period: number): string {
  let date = ''
  for (const row of curve.querySelectorAll('tbody tr')) {
    const [name = '', , requests, , share] = [...row.children].map((cell) => cell.textContent)
    // Only the first period of a day has its date.
    const [clock = '', day = date] = name.split(' ').toReversed()
    date = day
    const begin = Date.parse(`${date}T${clock}Z`) / 1000
    if (time >= begin && time < begin + period)
      return `${date} ${clock} UTC: ${share} of ${requests}`
  }
  return ''
}

/** Opens the closed waves on paper, and closes them again. */
export function openOnPaper(): void {
  let opened: HTMLDetailsElement[] = []
  addEventListener('beforeprint', () => {
    opened = [...document.querySelectorAll<HTMLDetailsElement>('[data-fold]:not([open])')]
    for (const fold of opened) fold.open = true
  })
  addEventListener('afterprint', () => {
    for (const fold of opened) fold.open = false
  })
}
