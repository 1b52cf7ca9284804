/**
 * Prepares the release of the version in package.json, for the workflow "release": builds, creates
 * the commit that contains the program and its tag, and writes the files of the release.
 *
 * --branch NAME: the branch that is released; release/vVERSION must name this version.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { root } from './bundle.ts'
import { commitWithProgram, findReleaseProblems } from './release-commit.ts'

const folder = fileURLToPath(root)
const { values } = parseArgs({ options: { branch: { type: 'string' } } })
const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
  version: string
}
const problems = findReleaseProblems(folder, version, {
  branch: values.branch ?? null,
  changelog: readFileSync(new URL('CHANGELOG.md', root), 'utf8'),
})
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exit(1)

run('npm', 'run', '--silent', 'build')
const commit = commitWithProgram(folder, version)
const release = new URL('release/', root)
rmSync(release, { recursive: true, force: true })
mkdirSync(release)
run('npm', 'pack', '--silent', '--ignore-scripts', '--pack-destination', fileURLToPath(release))
for (const name of ['bom.cdx.json', 'THIRD-PARTY-LICENSES.txt'])
  cpSync(new URL(`dist/${name}`, root), new URL(name, release))
// The next job has only the objects of the checked commit.
run('git', 'bundle', 'create', '--quiet', 'release/version.bundle', `v${version}`, '^HEAD')
console.log(`v${version} is commit ${commit}`)

function run(program: string, ...args: string[]): void {
  execFileSync(program, args, { cwd: folder, stdio: 'inherit' })
}
