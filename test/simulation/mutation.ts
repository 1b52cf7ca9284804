import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'esbuild'

/** Product with one defect. */
export interface Mutation {
  /** Description of the defect. */
  name: string
  /** Path from the root of the project. */
  file: string
  /** Snippet that occurs exactly once, and its replacement. */
  find: string
  replace: string
}

/**
 * Creates a plugin that mutates the product while it is bundled; fails if the snippet is not found
 * once.
 */
export function createMutationPlugin({ name, file, find, replace }: Mutation): Plugin {
  const path = fileURLToPath(new URL(`../../${file}`, import.meta.url))
  return {
    name: 'mutation',
    setup: (build) => {
      build.onLoad({ filter: /\.ts$/ }, (args) => {
        if (args.path !== path) return null
        const text = readFileSync(path, 'utf8')
        const found = text.split(find).length - 1
        if (found !== 1)
          throw new Error(
            `the mutation "${name}" expects its snippet once in ${file}, found it ${found} times`,
          )
        return { contents: text.replace(find, () => replace), loader: 'ts' }
      })
    },
  }
}
