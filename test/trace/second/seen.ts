import { known } from './result.ts'
import { stripSignature } from './signature.ts'
import type { Source } from './subjects.ts'

/** The seen URL (request semantics, 3.1). */
export const seen: Source = {
  url: (world) =>
    world.once('seen URL', () =>
      world.is('R37', 'as-sent') ? known(world.facts.url) : stripSignature(world),
    ),
}
