/**
 * Compares Edgewise with Terraform: the first apply of many domains, and a plan without changes.
 * Terraform manages one built-in `terraform_data` a domain, which sends no call; Edgewise sends its
 * writes to an emulator without call rate. Both keep their state on this disk. Terraform's rows are
 * left out if it is not installed.
 */
import { findTerraform, runEdgewise, runTerraform, type PeerRun } from './bench/peers.ts'
import { Workbench } from './bench/workbench.ts'

const sizes = [300, 1000]
const bench = new Workbench()

try {
  const terraform = findTerraform(bench)
  console.log('program            domains   first apply      CPU   empty plan      CPU    calls')
  if (terraform === null) console.log('Terraform is not installed: its rows are missing.')
  else for (const size of sizes) printRow(runTerraform(bench, terraform, size))
  const url = await bench.startEmulator()
  for (const size of sizes) printRow(runEdgewise(bench, url, size))
  console.log(
    "\nTimes are seconds. Calls are Edgewise's writes; terraform_data sends none, and a\n" +
      'provider without batches sends one for each resource.',
  )
} finally {
  bench.end()
}

function printRow({ program, domains, apply, plan, calls }: PeerRun): void {
  const cells = [domains, ...[apply, plan].flatMap(({ wall, cpu }) => [wall, cpu])]
  const widths = [7, 11, 7, 10, 7]
  const numbers = cells.map((cell, i) => cell.toFixed(i === 0 ? 0 : 1).padStart(widths[i] ?? 0))
  const writes = String(calls ?? '-').padStart(6)
  console.log(`${program.padEnd(19)}${numbers.join('  ')}  ${writes}`)
}
