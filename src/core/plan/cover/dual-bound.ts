import { findMax, addUp } from '../../model/lists.ts'
import type { Cell, Column, CoverProblem } from './cover-problem.ts'
import { solvePricingProblem, type Duals } from './pricing-problem.ts'
import {
  findIrreplaceableColumns,
  buildRowClasses,
  type RowClass,
  countCoveringColumns,
} from './row-classes.ts'
import type { Solver, SolverModel } from '../../model/parallel.ts'

/** Limits of the work for the bound. */
export interface BoundEffort {
  rounds: number
  /** Maximum number of column sets that a round explores. */
  steps: number
  /** Maximum number of cell variables; beyond it only columns have duals. */
  variables: number
}

/**
 * Computes a lower bound of the number of rectangles by linear programming duality. Each cell has a
 * dual, and so has each irreplaceable column, which counts ⌈n / width⌉ times for n rows. The duals
 * are feasible if no rectangle's price, the sum of its duals, is over 1; then the sum of all duals
 * is a lower bound. The duals are scaled down to be feasible, so that the bound holds for any
 * tolerance of the solver.
 *
 * The constraints are found by column generation (Gilmore and Gomory, 1961): the pricing problem
 * returns rectangles of negative reduced cost, 1 − price.
 *
 * @param incumbent size of a known cover: a bound that reaches it can't grow
 */
export function computeDualBound(
  problem: CoverProblem,
  incumbent: number,
  solver: Solver,
  effort: BoundEffort,
): number {
  const classes = buildRowClasses(problem)
  if (classes.length === 0) return 0
  const byColumns = computeColumnBound({ problem, classes, withCells: false }, solver)
  const cells = addUp(classes, (each) => each.cells)
  if (byColumns >= incumbent || cells > effort.variables) return byColumns
  return Math.max(
    byColumns,
    computeCellBound({ problem, classes, withCells: true }, incumbent, solver, effort),
  )
}

/** Computes the bound with duals of columns only: the maximum price is that of some class. */
function computeColumnBound(input: BoundInput, solver: Solver): number {
  const programme = buildProgramme(input)
  // If parts can replace every whole value, no column has a dual.
  if (programme.coefficients.length === 0) return 0
  return solver.withModel((model) => {
    passProgramme(model, input, programme, solver)
    const duals = solve(model)
    const maxPrice = findMax(
      input.classes.map(({ columns }) =>
        [...columns.keys()].reduce(
          (sum, column) => sum + (duals[programme.columnVariables.get(column) ?? -1] ?? 0),
          0,
        ),
      ),
    )
    return maxPrice === 0
      ? 0
      : roundUp(computeObjective(programme, duals) / (maxPrice * (1 + 1e-9)))
  })
}

/**
 * Computes the bound with duals of cells and columns by column generation. The pricing problem gets
 * the midpoint between the solver's duals and the best known ones: this stabilisation needs far
 * fewer rounds.
 */
function computeCellBound(
  input: BoundInput,
  incumbent: number,
  solver: Solver,
  effort: BoundEffort,
): number {
  const { problem, classes } = input
  const programme = buildProgramme(input)
  const shape = {
    kinds: problem.columns,
    sizes: classes.map((each) => each.rows.length),
    width: problem.width,
  }
  return solver.withModel((model) => {
    const addConstraint = passProgramme(model, input, programme, solver)
    let best = 0
    let center = new Float64Array(programme.coefficients.length)
    for (let round = 0; round < effort.rounds; round++) {
      const duals = solve(model)
      const midpoint = duals.map((dual, i) => (dual + (center[i] ?? 0)) / 2)
      const { rectangles, maxPrice } = solvePricingProblem(
        shape,
        toDuals(input, programme, midpoint),
        effort.steps,
      )
      const bound = computeObjective(programme, midpoint) / (maxPrice * (1 + 1e-9))
      if (bound > best) {
        best = bound
        center = midpoint.map((dual) => dual / maxPrice)
      }
      if (roundUp(best) >= Math.min(incumbent, roundUp(computeObjective(programme, duals)))) break
      for (const { rows, columns } of rectangles.slice(0, 60)) addConstraint(rows, columns)
    }
    return roundUp(best)
  })
}

/** Solves the programme of a model; returns its duals. */
function solve(model: SolverModel): Float64Array {
  model.run()
  return model.getSolution().colValue.map((dual) => Math.max(0, dual))
}

/**
 * Passes the programme to the solver, with one constraint for each class.
 *
 * @returns a function that adds the constraint of a rectangle
 */
function passProgramme(
  model: SolverModel,
  input: BoundInput,
  programme: LinearProgramme,
  solver: Solver,
): (rows: Map<number, number>, columns: Column[]) => void {
  const numCols = programme.coefficients.length
  model.options.set('output_flag', false)
  model.passModel({
    numCols,
    numRows: 0,
    sense: solver.constants.objectiveSense.maximize,
    colCost: programme.coefficients,
    colLower: new Float64Array(numCols),
    colUpper: new Float64Array(numCols).fill(1),
    rowLower: [],
    rowUpper: [],
    matrix: { format: 'csr', numRows: 0, numCols, starts: [0], indices: [], values: [] },
  })
  const addConstraint = (rows: Map<number, number>, columns: Column[]): void => {
    model.addRow(-solver.infinity, 1, buildConstraint(input, programme, rows, columns))
  }
  for (const [i, { rows, columns }] of input.classes.entries()) {
    addConstraint(
      new Map([[i, Math.min(input.problem.width, rows.length)]]),
      keepFirstAlternatives(input.problem, columns),
    )
  }
  return addConstraint
}

function computeObjective({ coefficients }: LinearProgramme, duals: Float64Array): number {
  return duals.reduce((sum, dual, i) => sum + dual * (coefficients[i] ?? 0), 0)
}

/** Input of a bound: duals for all cells of all classes, or for the columns only. */
interface BoundInput {
  problem: CoverProblem
  classes: RowClass[]
  withCells: boolean
}

interface LinearProgramme {
  /** Objective coefficient of each dual. */
  coefficients: Float64Array
  /** Variable of the first cell of each class. */
  firstCell: number[]
  columnVariables: Map<Column, number>
}

function buildProgramme({ problem, classes, withCells }: BoundInput): LinearProgramme {
  const coefficients: number[] = []
  const firstCell = classes.map(({ rows, cells }) => {
    const first = coefficients.length
    if (withCells) for (let cell = 0; cell < cells; cell++) coefficients.push(rows.length)
    return first
  })
  const columnVariables = new Map<Column, number>()
  for (const [column, rows] of findIrreplaceableColumns(classes)) {
    columnVariables.set(column, coefficients.length)
    coefficients.push(Math.ceil(rows / problem.width))
  }
  return { coefficients: Float64Array.from(coefficients), firstCell, columnVariables }
}

/** Keeps one alternative of each item, the whole value or the parts of one mode: a rectangle's. */
function keepFirstAlternatives(
  { columns: kinds }: CoverProblem,
  columns: Map<Column, Cell[]>,
): Column[] {
  const modes = new Map<number, number>()
  return [...columns.keys()].filter((column) => {
    const { item, mode } = kinds[column] ?? { item: -1, mode: 0 }
    if (!modes.has(item)) modes.set(item, mode)
    return modes.get(item) === mode
  })
}

function buildConstraint(
  { classes, withCells }: BoundInput,
  programme: LinearProgramme,
  rows: Map<number, number>,
  columns: Column[],
) {
  const index: number[] = []
  const value: number[] = []
  for (const column of columns) {
    const variable = programme.columnVariables.get(column)
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

function toDuals(
  { problem, classes, withCells }: BoundInput,
  programme: LinearProgramme,
  colValue: Float64Array,
): Duals {
  const columnDuals = new Float64Array(problem.columns.length)
  for (const [column, variable] of programme.columnVariables)
    columnDuals[column] = Math.max(0, colValue[variable] ?? 0)
  const rowDuals = classes.map(({ columns }, i) => {
    const getDual = (cell: Cell): number =>
      withCells ? Math.max(0, colValue[(programme.firstCell[i] ?? 0) + cell] ?? 0) : 0
    return new Map([...columns].map(([column, cells]) => [column, addUp(cells, getDual)]))
  })
  return { rowDuals, columnDuals }
}

/** Rounds a bound up: covers have whole numbers of rectangles. */
function roundUp(bound: number): number {
  return Math.ceil(bound - 1e-6)
}

/**
 * Computes a lower bound of the number of rectangles by counting. A column that n rows need takes
 * ⌈n / width⌉ rectangles, whole values of one item never share a rectangle, and all rows together
 * take ⌈rows / width⌉.
 */
export function computeCountingBound({ columns: kinds, rows, width }: CoverProblem): number {
  const sole = kinds.map(() => 0)
  for (const columns of rows) {
    const coveringColumns = countCoveringColumns(columns)
    for (const [column, cells] of columns)
      if (cells.some((cell) => coveringColumns.get(cell) === 1))
        sole[column] = (sole[column] ?? 0) + 1
  }
  const wholeBounds = new Map<number, number>()
  let bound = Math.ceil(rows.filter((row) => row.size > 0).length / width)
  for (const [column, { item, mode }] of kinds.entries()) {
    const columnBound = Math.ceil((sole[column] ?? 0) / width)
    const sum = mode === 0 ? (wholeBounds.get(item) ?? 0) + columnBound : columnBound
    if (mode === 0) wholeBounds.set(item, sum)
    bound = Math.max(bound, sum)
  }
  return bound
}
