import { isDomain } from '../../core/catalog/value/formats.ts'
import type { DomainMove } from '../../core/model/config.ts'
import type { Snapshot } from '../../core/model/item.ts'
import type { Diagnostic } from '../../core/model/problem.ts'
import { createDiagnostic, type Finding } from '../manifests/finding.ts'
import { createWorkspaceFinding as createFinding } from './workspace-shape.ts'
import type { YamlDocument } from '../yaml/yaml-file.ts'

/** Checks the rules of `moved` that need no manifest. */
export function checkMoved(moved: DomainMove[]): Finding[] {
  const keys = ['from', 'to'] as const
  const listed = { from: new Set<string>(), to: new Set<string>() }
  const sources = new Set(moved.map(({ from }) => from))
  return moved.flatMap((move, i) => {
    const pointer = `/moved/${i}`
    const patterns = keys.filter((key) => !isDomain(move[key]))
    if (patterns.length > 0)
      return patterns.map((key) =>
        createFinding(
          `${pointer}/${key}`,
          `expected the name of one domain, got "${move[key]}". A pattern can't be moved.`,
        ),
      )
    if (sources.has(move.to))
      return [
        createFinding(
          `${pointer}/to`,
          `"${move.to}" is moved on by another entry. Remove the one that an apply has recorded ` +
            'already; if none is, write one entry from the first name to the last.',
        ),
      ]
    return keys.flatMap((key) => {
      const isListed = listed[key].has(move[key])
      listed[key].add(move[key])
      const detail = `"${move[key]}" is listed twice. Remove one of them.`
      return isListed ? [createFinding(`${pointer}/${key}`, detail)] : []
    })
  })
}

/** Lists the moves that the manifests agree with: they have only the new name. */
export function listMoves(moved: DomainMove[], desired: Snapshot): DomainMove[] {
  return moved.filter(({ from, to }) => desired.has(to) && !desired.has(from))
}

/** Finds the moves that the manifests contradict. */
export function findMovedProblems(
  moved: DomainMove[],
  document: YamlDocument,
  desired: Snapshot,
): Diagnostic[] {
  const create = (pointer: string, summary: string, detail: string) =>
    createDiagnostic(document, { code: 'workspace-invalid', pointer, summary, detail })
  return moved.flatMap(({ from, to }, i) => [
    ...(desired.has(from)
      ? [
          create(
            `/moved/${i}/from`,
            'A moved domain still has a manifest',
            `a manifest declares "${from}", which was renamed to "${to}". Remove it from that ` +
              'manifest, or remove this entry.',
          ),
        ]
      : []),
    ...(desired.has(to)
      ? []
      : [
          create(
            `/moved/${i}/to`,
            'A moved domain has no manifest',
            `no manifest declares "${to}", the new name of "${from}". Rename the domain in its ` +
              'manifest, or remove this entry.',
          ),
        ]),
  ])
}
