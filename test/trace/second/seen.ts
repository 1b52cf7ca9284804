import { known } from './result.ts'
import { stripSignature } from './signature.ts'
import type { Source } from './subjects.ts'

/** The seen URL (request semantics, 3.1). */
export const seen: Source = {
  key: 'seen',
  url: (world) =>
    world.ask('seen URL', (inner) =>
      inner.is('R37', 'as-sent') ? known(inner.facts.url) : stripSignature(inner),
    ),
}
