import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'esbuild'

/** The product, broken in one place. */
export interface Mutation {
  /** What it does wrong. */
  name: string
  /** The file, from the root of the project. */
  file: string
  /** What stands there, exactly once, and what stands there instead. */
  find: string
  replace: string
}

/** Breaks the product while it is bundled; fails where it no longer stands as the mutation says. */
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
