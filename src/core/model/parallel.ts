/** Called regularly with the number of steps made and the maximum. */
export type Progress = (made: number, all: number) => void

/**
 * A kind of task. Tasks and results are plain data, which can be copied to another thread. A result
 * depends on its task alone, so it is the same in every thread.
 */
export interface TaskKind<Task, Result> {
  name: string
  /** Minimum size of tasks that are worth the start of threads, bytes. */
  minBytes: number
  run(task: Task, context: TaskContext): Result
}

/** Context of a task in its thread. */
export interface TaskContext {
  solver: Solver | null
  progress: Progress
}

/** Runs independent tasks, perhaps several at the same time. */
export interface Parallel {
  /** Returns the results in the order of the tasks. */
  run<Task, Result>(
    kind: TaskKind<Task, Result>,
    tasks: Task[],
    context?: Partial<TaskContext>,
  ): Result[]
}

/** Threads that run tasks beside this one. */
export interface WorkerPool extends Parallel {
  /** Ends the threads. */
  end(): Promise<void>
}

/** Runs the tasks one after the other. */
export const serial: Parallel = {
  run: (kind, tasks, { solver = null, progress = ignoreProgress } = {}) =>
    tasks.map((task, i) =>
      kind.run(task, { solver, progress: joinProgress(progress, i, i + 1, tasks.length) }),
    ),
}

/**
 * Joins the progress of a running task to that of all: those that have started are assumed to be as
 * far as this one.
 */
export function joinProgress(
  progress: Progress,
  finished: number,
  started: number,
  tasks: number,
): Progress {
  return (made, all) => progress(finished * all + (started - finished) * made, tasks * all)
}

/** Splits progress into that of steps, which follow each other. */
export function splitProgress(
  progress: Progress | undefined,
  steps: number,
): (step: number) => Progress {
  return (step) =>
    progress === undefined ? ignoreProgress : joinProgress(progress, step, step + 1, steps)
}

/** The progress of tasks whose caller reports none. */
export function ignoreProgress(): void {
  // Nothing is reported.
}

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
