import { growFromSeed, searchFromCover } from './cover-large.ts'
import { findSmallCover } from './find-cover.ts'
import type { TaskKind } from '../../model/parallel.ts'
import { scaleToBound } from './price-bound.ts'

/** Kinds of tasks that another thread may run. Messages between threads carry their names. */
export const taskKinds = [growFromSeed, searchFromCover, scaleToBound, findSmallCover] as TaskKind<
  unknown,
  unknown
>[]
