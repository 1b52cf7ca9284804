/** Solver of linear programmes: the part of HiGHS that the bound uses. */
export interface Solver {
  infinity: number
  constants: { objectiveSense: { maximize: unknown } }
  /** Calls `use` with an empty model, and frees its memory afterwards. */
  withModel<Result>(use: (model: SolverModel) => Result): Result
}

/** Linear programme in the memory of the solver. */
export interface SolverModel {
  options: { set(name: 'output_flag', value: boolean): unknown }
  passModel(programme: Programme): unknown
  /** Adds a constraint; `indices` are variables, `values` their coefficients. */
  addRow(lower: number, upper: number, entries: Entries): unknown
  run(): unknown
  /** Returns the optimum: the value of each variable. */
  getSolution(): { colValue: Float64Array }
}

interface Entries {
  indices: Int32Array
  values: Float64Array
}

interface Programme {
  numCols: number
  numRows: number
  sense: unknown
  colCost: Float64Array
  colLower: Float64Array
  colUpper: Float64Array
  rowLower: number[]
  rowUpper: number[]
  matrix: {
    format: 'csr'
    numRows: number
    numCols: number
    starts: number[]
    indices: number[]
    values: number[]
  }
}
