import { computeWindow, scrollToRow } from './moves.ts'

/** Most rows on paper. */
const maxPrintedRows = 2000

/** Heights in pixels: of a row, and of the header that stays above the rows. */
interface RowSizes {
  row: number
  header(): number
}

/** Renders the visible rows of a long list, and the active one, which may have the focus. */
export class VirtualRows {
  private readonly rows = new Map<number, HTMLElement>()
  private count = 0
  private active = 0
  private isPrinting = false

  private readonly port: HTMLElement
  private readonly body: HTMLElement
  private readonly sizes: RowSizes
  private readonly createRow: (row: number) => HTMLElement

  /** Renders into `body` what is visible in `port`, which scrolls. */
  constructor(
    port: HTMLElement,
    body: HTMLElement,
    sizes: RowSizes,
    createRow: (row: number) => HTMLElement,
  ) {
    this.port = port
    this.body = body
    this.sizes = sizes
    this.createRow = createRow
    port.addEventListener('scroll', () => this.render(), { passive: true })
    new ResizeObserver(() => this.render()).observe(port)
    addEventListener('beforeprint', () => this.print(true))
    addEventListener('afterprint', () => this.print(false))
  }

  /** Replaces all rows. */
  reset(count: number, active: number): void {
    for (const element of this.rows.values()) element.remove()
    this.rows.clear()
    this.count = count
    this.active = active
    this.body.style.height = `${count * this.sizes.row}px`
    this.render()
  }

  /** Makes a row the active one, scrolls it into view and returns it. */
  show(row: number): HTMLElement | undefined {
    this.active = row
    this.scrollTo(row)
    return this.rows.get(row)
  }

  /** Scrolls a row into view. */
  scrollTo(row: number): void {
    const top = this.findTop(row)
    if (top !== this.port.scrollTop) this.port.scrollTop = top
    this.render()
  }

  /** Returns whether the whole row is in view. */
  isVisible(row: number): boolean {
    return this.findTop(row) === this.port.scrollTop
  }

  private findTop(row: number): number {
    const { scrollTop, clientHeight } = this.port
    return scrollToRow(row, scrollTop, clientHeight, this.sizes.row, this.sizes.header())
  }

  /** Returns the rendered rows. */
  list(): Iterable<[number, HTMLElement]> {
    return this.rows
  }

  private render(): void {
    const { first, end } = this.isPrinting
      ? { first: 0, end: Math.min(this.count, maxPrintedRows) }
      : computeWindow(this.port.scrollTop, this.port.clientHeight, this.sizes.row, this.count)
    const isKept = (row: number) => (row >= first && row < end) || row === this.active
    for (const [row, element] of this.rows)
      if (!isKept(row)) {
        element.remove()
        this.rows.delete(row)
      }
    const added = document.createDocumentFragment()
    for (let row = first; row < end; row++) this.add(row, added)
    if (this.active < this.count) this.add(this.active, added)
    if (added.childElementCount === 0) return
    this.body.append(added)
    this.sort()
  }

  /** Brings the rows into the order in which they are read; those in place stay untouched. */
  private sort(): void {
    let next: Element | null = null
    for (const element of this.inOrder().toReversed()) {
      if (element.nextElementSibling !== next) this.body.insertBefore(element, next)
      next = element
    }
  }

  private add(row: number, parent: DocumentFragment): void {
    if (this.rows.has(row)) return
    const element = this.createRow(row)
    element.style.transform = `translateY(${row * this.sizes.row}px)`
    this.rows.set(row, element)
    parent.append(element)
  }

  private inOrder(): HTMLElement[] {
    return [...this.rows].toSorted(([a], [b]) => a - b).map(([, element]) => element)
  }

  private print(isPrinting: boolean): void {
    this.isPrinting = isPrinting
    const left = isPrinting ? this.count - maxPrintedRows : 0
    this.body.toggleAttribute('data-cut', left > 0)
    this.render()
  }
}
