import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { measure, type Cost } from './measure.ts'
import type { Workbench } from './workbench.ts'

/** A first apply of many domains, and a plan without changes after it. */
export interface PeerRun {
  program: string
  domains: number
  apply: Cost
  plan: Cost
  /** Writes that were sent to an emulator; null for a program that sends none. */
  calls: number | null
}

/** No question, and no call of Terraform's version check. */
const terraformEnv = { CHECKPOINT_DISABLE: '1', TF_IN_AUTOMATION: '1' }

/** Finds Terraform's version; null if it is not installed. */
export function findTerraform({ env }: Workbench): string | null {
  const { error, stdout } = spawnSync('terraform', ['version', '-json'], {
    env: { ...env, ...terraformEnv },
    encoding: 'utf8',
  })
  if (error !== undefined && 'code' in error && error.code === 'ENOENT') return null
  if (error !== undefined) throw error
  return (JSON.parse(stdout) as { terraform_version: string }).terraform_version
}

/** Runs Terraform with one built-in `terraform_data` a domain, which sends no call. */
export function runTerraform(bench: Workbench, version: string, size: number): PeerRun {
  const folder = bench.makeFolder(`terraform-${size}`)
  const resources = listDomains(size).map(
    ({ domain, address }, i) =>
      `resource "terraform_data" "d${i}" {\n` +
      `  input = { domain = "${domain}", origin = "${address}", timeout = 60 }\n}\n`,
  )
  writeFileSync(join(folder, 'main.tf'), resources.join(''))
  const env = { ...bench.env, ...terraformEnv }
  const terraform = (...args: string[]) =>
    measure({ folder, env, args: ['terraform', ...args, '-input=false'] })
  terraform('init')
  const apply = terraform('apply', '-auto-approve')
  const plan = terraform('plan', '-detailed-exitcode')
  return { program: `Terraform ${version}`, domains: size, apply, plan, calls: null }
}

/** Runs Edgewise with the same domains and an emulator without call rate. */
export function runEdgewise(bench: Workbench, url: string, size: number): PeerRun {
  const folder = bench.makeFolder(`edgewise-${size}`)
  mkdirSync(join(folder, 'domains'))
  bench.git(folder, 'init', '--quiet')
  writeFileSync(
    join(folder, 'edgewise.yaml'),
    `version: 1\nid: peers-${size}\nservice: {url: "${url}"}\nlimits: {callsPerMinute: 100000}\n`,
  )
  for (const { domain, address } of listDomains(size))
    writeFileSync(
      join(folder, 'domains', `${domain}.yaml`),
      `domain: ${domain}\nconfig:\n  origin: {default_master: ${address}}\n  timeout: {time: 60}\n`,
    )
  const apply = bench.edgewise(folder, ['apply', '--yes'])
  const plan = bench.edgewise(folder, ['plan', '--detailed-exitcode'])
  const confirmed = /writes: (\d+) confirmed\./.exec(apply.output)?.[1]
  if (confirmed === undefined) throw new Error(`the apply is not complete:\n${apply.output}`)
  return { program: 'Edgewise', domains: size, apply, plan, calls: Number(confirmed) }
}

/** Lists domains of one of 200 origins. Each size has its own, since state has owners. */
function listDomains(size: number): { domain: string; address: string }[] {
  return Array.from({ length: size }, (_, i) => ({
    domain: `d${i}.of-${size}.example.com`,
    address: `192.0.2.${(i % 200) + 1}`,
  }))
}
