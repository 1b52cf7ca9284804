/**
 * Compares Edgewise with Terraform: the first apply of many domains, and a plan without changes.
 * Terraform manages one built-in `terraform_data` a domain, which sends no call; Edgewise sends its
 * writes to an emulator without call rate. Both keep their state on this disk. Terraform's rows are
 * left out if it is not installed.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const sizes = [300, 1000]
const home = mkdtempSync(join(tmpdir(), 'edgewise-peers-'))
// No configuration of this machine, no question, and no call of Terraform's version check.
const env = {
  PATH: process.env['PATH'],
  HOME: home,
  CHECKPOINT_DISABLE: '1',
  TF_IN_AUTOMATION: '1',
  EDGEWISE_TOKEN: 'any',
}

try {
  const terraform = findTerraform()
  console.log('program            domains   first apply      CPU   empty plan      CPU    calls')
  if (terraform === null) console.log('Terraform is not installed: its rows are missing.')
  else for (const size of sizes) measureTerraform(terraform, size)
  await measureEdgewise()
  console.log(
    "\nTimes are seconds. Calls are Edgewise's writes; terraform_data sends none, and a\n" +
      'provider without batches sends one for each resource.',
  )
} finally {
  rmSync(home, { recursive: true, force: true })
}

/** Finds Terraform's version; null if it is not installed. */
function findTerraform(): string | null {
  const { error, stdout } = spawnSync('terraform', ['version', '-json'], { env, encoding: 'utf8' })
  if (error !== undefined && 'code' in error && error.code === 'ENOENT') return null
  if (error !== undefined) throw error
  return (JSON.parse(stdout) as { terraform_version: string }).terraform_version
}

function measureTerraform(version: string, size: number): void {
  const folder = join(home, `terraform-${size}`)
  mkdirSync(folder)
  const resources = listDomains(size).map(
    ({ domain, address }, i) =>
      `resource "terraform_data" "d${i}" {\n` +
      `  input = { domain = "${domain}", origin = "${address}", timeout = 60 }\n}\n`,
  )
  writeFileSync(join(folder, 'main.tf'), resources.join(''))
  const terraform = (...args: string[]) => measure(folder, 'terraform', ...args, '-input=false')
  terraform('init')
  const apply = terraform('apply', '-auto-approve')
  const plan = terraform('plan', '-detailed-exitcode')
  printRow(`Terraform ${version}`, size, apply, plan, '-')
}

async function measureEdgewise(): Promise<void> {
  const args = [program, 'emulator', '--quiet', '--calls-per-minute', '0']
  const emulator = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const [line] = (await once(emulator.stdout, 'data')) as [Buffer]
    const url = String(line).replace('listening on ', '').trim()
    for (const size of sizes) measureWorkspace(url, size)
  } finally {
    emulator.kill()
  }
}

function measureWorkspace(url: string, size: number): void {
  const folder = join(home, `edgewise-${size}`)
  mkdirSync(join(folder, 'domains'), { recursive: true })
  execFileSync('git', ['init', '--quiet'], { cwd: folder, env })
  writeFileSync(
    join(folder, 'edgewise.yaml'),
    `version: 1\nid: peers-${size}\nservice: {url: "${url}"}\nlimits: {callsPerMinute: 100000}\n`,
  )
  for (const { domain, address } of listDomains(size))
    writeFileSync(
      join(folder, 'domains', `${domain}.yaml`),
      `domain: ${domain}\nconfig:\n  origin: {default_master: ${address}}\n  timeout: {time: 60}\n`,
    )
  const edgewise = (...more: string[]) => measure(folder, process.execPath, program, ...more)
  const apply = edgewise('apply', '--yes')
  const plan = edgewise('plan', '--detailed-exitcode')
  const confirmed = /writes: (\d+) confirmed\./.exec(apply.output)?.[1]
  if (confirmed === undefined) throw new Error(`the apply is not complete:\n${apply.output}`)
  printRow('Edgewise', size, apply, plan, confirmed)
}

/** Lists domains of one of 200 origins. Each size has its own, since state has owners. */
function listDomains(size: number): { domain: string; address: string }[] {
  return Array.from({ length: size }, (_, i) => ({
    domain: `d${i}.of-${size}.example.com`,
    address: `192.0.2.${(i % 200) + 1}`,
  }))
}

interface Measured {
  /** Seconds. */
  wall: number
  /** Seconds of user and system, with child processes. */
  cpu: number
  output: string
}

/** @throws Error if the command fails, as a plan with changes does */
function measure(folder: string, ...command: string[]): Measured {
  const script = 'TIMEFORMAT="%R %U %S"; time "$@" > output 2>&1'
  const { status, stderr } = spawnSync('bash', ['-c', script, 'bash', ...command], {
    cwd: folder,
    env: { ...env, LC_ALL: 'C' },
    encoding: 'utf8',
  })
  const output = readFileSync(join(folder, 'output'), 'utf8')
  if (status !== 0) throw new Error(`${command.join(' ')}: exit code ${status}\n${output}`)
  const [wall = 0, user = 0, system = 0] = stderr.trim().split(' ').map(Number)
  return { wall, cpu: user + system, output }
}

function printRow(
  name: string,
  size: number,
  apply: Measured,
  plan: Measured,
  calls: string,
): void {
  const cells = [size, ...[apply, plan].flatMap(({ wall, cpu }) => [wall, cpu])]
  const widths = [7, 11, 7, 10, 7]
  const numbers = cells.map((cell, i) => cell.toFixed(i === 0 ? 0 : 1).padStart(widths[i] ?? 0))
  console.log(`${name.padEnd(19)}${numbers.join('  ')}  ${calls.padStart(6)}`)
}
