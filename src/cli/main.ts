#!/usr/bin/env node
import { describeUnwritten } from '../files/explain-failure.ts'
import { useCompileCache } from '../files/cache-folder.ts'
import { standardError, standardOutput } from '../files/standard-output.ts'
import { exitCodes } from './exit-codes.ts'
import { version } from './package-files.ts'

/** Exit code of a process in which nothing is left to wait for, though the command did not end. */
const stalled = 13
process.on('exit', (code) => {
  if (code === stalled)
    standardError.write(
      'edgewise: internal error; please report this bug. The command ended early: see what it ' +
        'recorded with "edgewise state list"\n',
    )
  const fault = standardOutput.fault()
  // A reader that closes the pipe early (`| head`) is not an error.
  if (fault === null || fault === 'EPIPE') return
  standardError.write(
    `edgewise: ${describeUnwritten('the output', fault)}; the command itself ended ` +
      `with exit code ${code}\n`,
  )
  if (code === exitCodes.done || code === exitCodes.differences) process.exitCode = exitCodes.failed
})

async function runProgram(): Promise<void> {
  process.exitCode = stalled
  const { runProcess } = await import('./run-process.ts')
  process.exitCode = await runProcess()
}

// This file is small, and prints the version without loading the program.
const [argument, ...others] = process.argv.slice(2)
if (others.length === 0 && (argument === '--version' || argument === '-V'))
  standardOutput.write(`${version}\n`)
else {
  useCompileCache(process.argv, process.env)
  void runProgram()
}
