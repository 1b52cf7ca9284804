import jsonPatch from 'fast-json-patch'
import type { PatchOperation } from '../model/change.ts'
import type { Value } from '../model/item.ts'

/** The RFC 6902 patch that leads from one value to another; null stands for nothing there. */
export function computePatch(before: Value | null, after: Value | null): PatchOperation[] {
  if (before === null && after === null) return []
  if (before === null) return [{ op: 'add', path: '', value: after }]
  if (after === null) return [{ op: 'remove', path: '' }]
  // The library loses a change between object and list at the root, so the values are compared one
  // level down.
  return jsonPatch.compare({ root: before }, { root: after }).map((operation) => {
    const path = operation.path.slice('/root'.length)
    if (operation.op === 'remove') return { op: 'remove', path }
    if (operation.op === 'add' || operation.op === 'replace')
      return { op: operation.op, path, value: operation.value }
    throw new TypeError(`expected add, remove or replace in a patch, got "${operation.op}"`)
  })
}
