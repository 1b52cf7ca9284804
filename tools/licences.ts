/**
 * Prints each package of the bundle with version and licence. Fails for a licence that is not
 * allowed, and if the files of `dist` about them are not up to date.
 */
import { existsSync, readFileSync } from 'node:fs'
import { bundle, root } from './bundle.ts'
import { describeThirdParty, findLicenceProblems } from './third-party.ts'

const { packages, files } = describeThirdParty(await bundle({ write: false }))
for (const { name, version, licence, isBundled } of packages)
  console.log(`${`${name} ${version}`.padEnd(40)}  ${licence}${isBundled ? '' : '  (installed)'}`)

const outdated = Object.entries(files).flatMap(([path, text]) => {
  const shipped = new URL(`dist/${path}`, root)
  return existsSync(shipped) && readFileSync(shipped, 'utf8') === text
    ? []
    : [`dist/${path} is missing or not up to date: run "npm run build"`]
})
const problems = [...findLicenceProblems(packages), ...outdated]
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
