/**
 * Checks what the package would contain: its size, its files, and that none of them names a folder
 * of this machine. Needs the built program.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { root } from './bundle.ts'
import { findPackageProblems, type PackedFile } from './package-contents.ts'

const cwd = fileURLToPath(root)
const printed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
  cwd,
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'inherit'],
})
const [{ files } = { files: [] }] = JSON.parse(printed) as { files: PackedFile[] }[]
const foreign = files.filter(({ path }) => {
  const text = readFileSync(new URL(path, root), 'latin1')
  return [cwd, `${homedir()}/`].some((folder) => folder.length > 2 && text.includes(folder))
})
const problems = [
  ...findPackageProblems(files),
  ...foreign.map(({ path }) => `${path} names a folder of this machine`),
]
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
else {
  const size = files.reduce((sum, file) => sum + file.size, 0)
  console.log(`${files.length} files, ${(size / 1e6).toFixed(1)} MB`)
}
