import { formatTestsJunit } from '../../outlets/report/tests/junit.ts'
import type { Renderers } from './subjects.ts'

/** Renders the results of tests as JUnit XML. */
export const renderers = {
  test: async (tested) => formatTestsJunit(tested),
} satisfies Renderers
