import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { statSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, delimiter, join, resolve } from 'node:path'
import { measure, type Cost } from './measure.ts'
import type { Workbench } from './workbench.ts'

/** What a study needs from its environment is missing; the message says what to give. */
export class MissingError extends Error {}

/** A provider of Terraform, and a module that uses it, as the environment names them. */
export interface Provider {
  terraform: string
  /** The program of the provider. */
  program: string
  /** Address of the provider, such as `acme/cdn`. */
  source: string
  module: string
}

export const howToCompare =
  'To compare with a provider of Terraform, set VENDOR_PROVIDER to its program ' +
  '(terraform-provider-NAME) and VENDOR_MODULE to a folder with create/*.tf and change/*.tf, ' +
  'which use no other provider and take the variables endpoint, token and domains.'

/**
 * Finds the provider to compare with; null if the environment names none.
 *
 * @throws MissingError if it, its module or Terraform is not there
 */
export function findProvider(env: NodeJS.ProcessEnv): Provider | null {
  const { VENDOR_PROVIDER: program = '', VENDOR_MODULE: module = '' } = env
  if (program === '' && module === '') return null
  if (program === '' || module === '') throw new MissingError(howToCompare)
  if (!isFile(program)) throw new MissingError(`VENDOR_PROVIDER names no file: ${program}`)
  for (const version of ['create', 'change'])
    if (listFiles(join(module, version)).length === 0)
      throw new MissingError(`VENDOR_MODULE has no ${version}/*.tf: ${module}`)
  return {
    terraform: findTerraform(env),
    program: resolve(program),
    source: findSource(program, module),
    module: resolve(module),
  }
}

function findTerraform({ TERRAFORM: given, PATH = '' }: NodeJS.ProcessEnv): string {
  const candidates = ['terraform', 'tofu'].flatMap((name) =>
    PATH.split(delimiter).map((folder) => join(folder, name)),
  )
  const found = (given === undefined ? candidates : [resolve(given)]).find(isFile)
  if (found !== undefined) return found
  throw new MissingError('expected terraform or tofu on the PATH, or TERRAFORM to name one')
}

/** Finds the address under which the module requires the provider. */
function findSource(program: string, module: string): string {
  const name = /^terraform-provider-([^_.]+)/.exec(basename(program))?.[1]
  if (name === undefined)
    throw new MissingError(`expected a program terraform-provider-NAME, got ${program}`)
  const texts = listFiles(join(module, 'create')).map((file) => readFileSync(file, 'utf8'))
  const sources = [...texts.join('\n').matchAll(/\bsource\s*=\s*"([^"]+)"/g)]
  const source = sources.map(([, each = '']) => each).find((each) => each.endsWith(`/${name}`))
  if (source !== undefined) return source
  throw new MissingError(`create/*.tf requires no provider with a source …/${name}: ${module}`)
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}

/** Lists the files of a configuration; none if there is no such folder. */
function listFiles(folder: string): string[] {
  if (!existsSync(folder)) return []
  const names = readdirSync(folder).filter((name) => /\.(tf|tofu|tf\.json)$/.test(name))
  return names.map((name) => join(folder, name))
}

/**
 * Prepares a folder in which Terraform runs with the provider, and without a registry: no `init` is
 * needed, and none is run.
 */
export function prepareTerraform(
  bench: Workbench,
  { terraform, program, source, module }: Provider,
  endpoint: string,
  domains: string[],
): { use(version: 'create' | 'change'): void; run(args: string[], times?: number): Cost } {
  const [folder, overrides] = [bench.makeFolder('module'), bench.makeFolder('provider')]
  symlinkSync(program, join(overrides, basename(program)))
  const config = join(bench.home, 'terraformrc')
  const override = `${JSON.stringify(source)} = ${JSON.stringify(overrides)}`
  const lines = ['provider_installation {', 'dev_overrides {', override, '}', 'direct {}', '}', '']
  writeFileSync(config, lines.join('\n'))
  const env = {
    ...bench.env,
    CHECKPOINT_DISABLE: '1',
    TF_CLI_CONFIG_FILE: config,
    TF_IN_AUTOMATION: '1',
    TF_VAR_endpoint: endpoint,
    TF_VAR_token: bench.env['EDGEWISE_TOKEN'],
    TF_VAR_domains: JSON.stringify(domains),
  }
  return {
    use: (version) => {
      for (const file of listFiles(folder)) rmSync(file)
      cpSync(join(module, version), folder, { recursive: true })
    },
    run: (args, times) =>
      measure({ folder, env, args: [terraform, ...args, '-input=false', '-no-color'], times }),
  }
}
