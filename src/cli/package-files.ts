import { loadPackaged } from '../files/load-packaged.ts'

/**
 * Loads a file of the package, such as `schemas/edgewise.schema.json`. The relative path to the
 * package's folder is the same for this file and for the built program (`dist/cli`, `dist/chunks`).
 */
export function readPackageFile(path: string): string {
  return loadPackaged(new URL(`../../${path}`, import.meta.url))
}

/** Version of the package. */
export const version: string = (JSON.parse(readPackageFile('package.json')) as { version: string })
  .version
