import { listSome } from '../model/words.ts'
import type { RecordedState } from '../state/store.ts'

/** Notes imported items that a call of an apply that died may have changed after the import. */
export function listLateNotes(recorded: RecordedState): string[] {
  const late = [...recorded].flatMap(([domain, items]) =>
    [...items].flatMap(([item, state]) =>
      state.late !== undefined && state.origin === 'import' && state.status === 'confirmed'
        ? [`${item} of ${domain}`]
        : [],
    ),
  )
  if (late.length === 0) return []
  return [
    'A call of an apply that died could still change imported items when they were imported: ' +
      `${listSome(late)}. To be certain of their values, import them again.`,
  ]
}
