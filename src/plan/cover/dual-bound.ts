import type { Highs, Model } from 'highs'
import type { Cell, Column, CoverProblem } from './cover-problem.ts'
import { solvePricingProblem, type Duals } from './pricing-problem.ts'
import { findIrreplaceableColumns, buildRowClasses, type RowClass } from './row-classes.ts'

/** Solves linear programmes. */
export type Solver = Highs

/** How much work the bound may be. */
export interface BoundEffort {
  rounds: number
  /** Sets of columns looked at in a round. */
  steps: number
  /** Over so many variables only columns get prices, not cells. */
  variables: number
}

/**
 * A number of rectangles that no cover can be under, as the best prices prove it. Each cell gets a
 * price, and each column that nothing can replace one more; where no possible rectangle costs over
 * 1, a cover has as many rectangles as all cells and columns cost: a column with n rows has to be
 * paid ⌈n / width⌉ times. Prices that come out too dear are scaled down, so that the bound holds
 * whatever the solver's tolerance is.
 *
 * @param enough a cover of so many is known: a bound that reaches it can't grow
 */
export function computeDualBound(
  problem: CoverProblem,
  enough: number,
  solver: Solver,
  effort: BoundEffort,
): number {
  const classes = buildRowClasses(problem)
  if (classes.length === 0) return 0
  const byColumns = columnBound({ problem, classes, withCells: false }, solver)
  const cells = classes.reduce((sum, each) => sum + each.cells, 0)
  if (byColumns >= enough || cells > effort.variables) return byColumns
  return Math.max(
    byColumns,
    cellBound({ problem, classes, withCells: true }, enough, solver, effort),
  )
}

/** With prices for columns alone no rectangle costs more than the columns of some class. */
function columnBound(market: Market, solver: Solver): number {
  const programme = programmeOf(market)
  // Where parts can replace every whole value, no column has a price.
  if (programme.worth.length === 0) return 0
  return solver.withModel((model) => {
    enter(model, market, programme, solver)
    model.run()
    const prices = model.getSolution().colValue.map((price) => Math.max(0, price))
    const most = Math.max(
      ...market.classes.map(({ columns }) =>
        [...columns.keys()].reduce(
          (sum, column) => sum + (prices[programme.ofColumn.get(column) ?? -1] ?? 0),
          0,
        ),
      ),
    )
    return most === 0 ? 0 : whole(valueOf(programme, prices) / (most * (1 + 1e-9)))
  })
}

/**
 * The best prices found by limiting, again and again, the rectangles that cost too much. What is
 * tried lies halfway between the solver's prices, which are too dear somewhere, and the best ones
 * known: that takes far fewer rounds.
 */
function cellBound(market: Market, enough: number, solver: Solver, effort: BoundEffort): number {
  const { problem, classes } = market
  const programme = programmeOf(market)
  const shape = {
    kinds: problem.columns,
    sizes: classes.map((each) => each.rows.length),
    width: problem.width,
  }
  return solver.withModel((model) => {
    const limit = enter(model, market, programme, solver)
    let best = 0
    let center = new Float64Array(programme.worth.length)
    for (let round = 0; round < effort.rounds; round++) {
      model.run()
      const dear = model.getSolution().colValue.map((price) => Math.max(0, price))
      const tried = dear.map((price, i) => (price + (center[i] ?? 0)) / 2)
      const { heavy, most } = solvePricingProblem(
        shape,
        pricesOf(market, programme, tried),
        effort.steps,
      )
      const bound = valueOf(programme, tried) / (most * (1 + 1e-9))
      if (bound > best) {
        best = bound
        center = tried.map((price) => price / most)
      }
      if (whole(best) >= Math.min(enough, whole(valueOf(programme, dear)))) break
      for (const { rows, columns } of heavy.slice(0, 60)) limit(rows, columns)
    }
    return whole(best)
  })
}

/**
 * Gives the programme to the solver, with a limit for each class alone; returns what adds another
 * limit.
 */
function enter(
  model: Model,
  market: Market,
  programme: Programme,
  solver: Solver,
): (rows: Map<number, number>, columns: Column[]) => void {
  const count = programme.worth.length
  model.options.set('output_flag', false)
  model.passModel({
    numCols: count,
    numRows: 0,
    sense: solver.constants.objectiveSense.maximize,
    colCost: programme.worth,
    colLower: new Float64Array(count),
    colUpper: new Float64Array(count).fill(1),
    rowLower: [],
    rowUpper: [],
    matrix: { format: 'csr', numRows: 0, numCols: count, starts: [0], indices: [], values: [] },
  })
  const limit = (rows: Map<number, number>, columns: Column[]): void => {
    model.addRow(-solver.infinity, 1, entriesOf(market, programme, rows, columns))
  }
  for (const [i, { rows, columns }] of market.classes.entries()) {
    limit(
      new Map([[i, Math.min(market.problem.width, rows.length)]]),
      withoutRivals(market.problem, columns),
    )
  }
  return limit
}

function valueOf({ worth }: Programme, prices: Float64Array): number {
  return prices.reduce((sum, price, i) => sum + price * (worth[i] ?? 0), 0)
}

/** What prices are sought for: all cells of all classes, or the columns alone. */
interface Market {
  problem: CoverProblem
  classes: RowClass[]
  withCells: boolean
}

interface Programme {
  /** How much each price adds to the bound. */
  worth: Float64Array
  /** For each class the variable of its first cell. */
  firstCell: number[]
  ofColumn: Map<Column, number>
}

function programmeOf({ problem, classes, withCells }: Market): Programme {
  const worth: number[] = []
  const firstCell = classes.map(({ rows, cells }) => {
    const first = worth.length
    if (withCells) for (let cell = 0; cell < cells; cell++) worth.push(rows.length)
    return first
  })
  const ofColumn = new Map<Column, number>()
  for (const [column, rows] of findIrreplaceableColumns(classes)) {
    ofColumn.set(column, worth.length)
    worth.push(Math.ceil(rows / problem.width))
  }
  return { worth: Float64Array.from(worth), firstCell, ofColumn }
}

/**
 * Of each item the whole value, or the parts of one mode: what a rectangle of one class may have.
 */
function withoutRivals({ columns: kinds }: CoverProblem, columns: Map<Column, Cell[]>): Column[] {
  const modes = new Map<number, number>()
  return [...columns.keys()].filter((column) => {
    const { item, mode } = kinds[column] ?? { item: -1, mode: 0 }
    if (!modes.has(item)) modes.set(item, mode)
    return modes.get(item) === mode
  })
}

function entriesOf(
  { classes, withCells }: Market,
  programme: Programme,
  rows: Map<number, number>,
  columns: Column[],
) {
  const index: number[] = []
  const value: number[] = []
  for (const column of columns) {
    const variable = programme.ofColumn.get(column)
    if (variable !== undefined) {
      index.push(variable)
      value.push(1)
    }
    for (const [i, count] of withCells ? rows : []) {
      for (const cell of classes[i]?.columns.get(column) ?? []) {
        index.push((programme.firstCell[i] ?? 0) + cell)
        value.push(count)
      }
    }
  }
  return { indices: Int32Array.from(index), values: Float64Array.from(value) }
}

function pricesOf(
  { problem, classes, withCells }: Market,
  programme: Programme,
  colValue: Float64Array,
): Duals {
  const columnDuals = new Float64Array(problem.columns.length)
  for (const [column, variable] of programme.ofColumn)
    columnDuals[column] = Math.max(0, colValue[variable] ?? 0)
  const rowDuals = classes.map(({ columns }, i) => {
    const pay = (cell: Cell): number =>
      withCells ? Math.max(0, colValue[(programme.firstCell[i] ?? 0) + cell] ?? 0) : 0
    return new Map(
      [...columns].map(([column, cells]) => [
        column,
        cells.reduce((sum, cell) => sum + pay(cell), 0),
      ]),
    )
  })
  return { rowDuals, columnDuals }
}

/** Covers have whole numbers of rectangles. */
function whole(bound: number): number {
  return Math.ceil(bound - 1e-6)
}
