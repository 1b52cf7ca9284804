import type { Tested } from '../../../core/tests/results.ts'

/** A file that `--record` wrote. */
export interface RecordedFile {
  file: string
  domain: string
  requests: number
  answers: number
  unknown: number
}

/** Builds `edgewise.test/1`. */
export function buildTestJson({ results, mutations }: Tested, recorded?: RecordedFile[]): object {
  const failed = results.filter(({ outcome }) => outcome === 'failed').length
  return {
    format: 'edgewise.test/1',
    summary: { tests: results.length, passed: results.length - failed, failed },
    tests: results,
    mutations: mutations ?? undefined,
    recorded,
  }
}
