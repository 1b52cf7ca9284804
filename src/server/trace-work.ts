import { EdgewiseError } from '../model/edgewise-error.ts'
import { inSpan, type SpanName, type Tracer } from '../model/tracing.ts'
import type { Outside } from '../operations/outside.ts'
import type { Branch } from './branch.ts'
import type { Runs } from './runs.ts'

/** Runs a piece of work of the controller in a trace of its own. */
export function traceWork<T>(tracer: Tracer | undefined, name: SpanName, work: () => T): T {
  return inSpan(tracer, name, work, { kind: 'root' })
}

/** Adds a span to each fetch of a branch. */
export function traceBranch(branch: Branch, tracer: Tracer | undefined): Branch {
  return {
    location: branch.location,
    name: branch.name,
    fetch: () =>
      inSpan(tracer, 'fetch branch', async () => {
        const commit = await branch.fetch()
        tracer?.root().set({ 'edgewise.commit': commit })
        return commit
      }),
    checkOut: (commit) => branch.checkOut(commit),
    keepOnly: (commits) => branch.keepOnly(commits),
    isAncestor: (ancestor, commit) => branch.isAncestor(ancestor, commit),
    listHistory: (commit, max) => branch.listHistory(commit, max),
    close: () => branch.close(),
  }
}

/** Adds the failures that runs report to the trace of their work. */
export function traceRuns(
  runs: Runs,
  { tracer, signal }: Pick<Outside, 'tracer' | 'signal'>,
): Runs {
  return {
    ...runs,
    advance: (id, head) => {
      tracer?.root().set({ 'edgewise.rollout': id })
      return runs.advance(id, head)
    },
    report: (what, error) => {
      const code = error instanceof EdgewiseError ? error.code : 'defect'
      tracer?.root().fail(signal.aborted ? 'interrupted' : code)
      return runs.report(what, error)
    },
  }
}
