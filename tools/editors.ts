/**
 * Builds the extension for Visual Studio Code, and checks its files, licences and size. Needs no
 * network. An argument names the file to write, such as `edgewise.vsix`.
 */
import { writeFileSync } from 'node:fs'
import { buildExtension, packExtension } from './vsix.ts'

const built = await buildExtension()
const packed = packExtension(built.files)
const problems = [...built.problems, ...packed.problems]
for (const problem of problems) console.error(`the extension: ${problem}`)
if (problems.length > 0) process.exitCode = 1
else {
  const [, , file] = process.argv
  if (file !== undefined) writeFileSync(file, packed.bytes)
  console.log(`${built.files.size} files, ${(packed.bytes.length / 1000).toFixed(0)} kB packed`)
}
