import { readPackageFile } from './package-files.ts'

/** Version of the package. */
export const version: string = (JSON.parse(readPackageFile('package.json')) as { version: string })
  .version
