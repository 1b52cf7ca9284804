import { InvalidArgumentError, Option } from 'commander'
import type { TestOptions } from '../tests/test.ts'
import type { Declare } from './declare.ts'
import { addReportOption, collect, createIntegerParser } from './options.ts'

/** `edgewise test`: runs the tests of manifests. Calls nothing. */
export function declareTest(declare: Declare): void {
  const command = declare<TestOptions>('test [paths...]', {
    description: 'run the tests of manifests, without any call',
    args: ['files, folders and globs of test files; all by default'],
    examples: [
      'test',
      "test tests/video.yaml --run '*cache*' --report junit.xml",
      'test --mutate --min-guarded 80%',
      'test --record https://www.example.com/img/a.jpg',
    ],
    run: async (context, args, options) =>
      (await import('../tests/test.ts')).test(context, args, options),
  }).option('--run <glob>', 'only tests whose name matches, such as *video*')
  addReportOption(command, 'test')
    .option('--watch', 'run the tests again when a file changes, until Ctrl-C')
    .option('--allow-empty', 'accept that no test runs')
    .option('--mutate', 'then change each rule and value; list what no test fails for')
    .option(
      '--limit <n>',
      'changes to try with --mutate (default: 500)',
      createIntegerParser(1, 1e6),
    )
    .option('--min-guarded <share>', 'with --mutate: fail below this share', parseShare)
    .addOption(
      new Option('--record <url>', 'write a test of what a trace says today; also of PATHS')
        .argParser(collect)
        .default([])
        .conflicts(['run', 'report', 'watch', 'allowEmpty', 'mutate']),
    )
    .addHelpText('after', guide)
}

const guide = `
A test is a YAML document in tests/:

  test: images stay in the cache for a day
  domains: ["*.img.example.com"]     # or given: {profiles: [img], config: {}}
  assume: {unmanaged: absent}        # items that no manifest has are not set
  items: {https/force_https: 301}    # ITEM/FIELD of the manifests
  requests:
    - url: https://a.img.example.com/x.png
      expect: {access.decision: allowed, cache.seconds: 86400}
  plan: {from: {timeout: {time: 60}}, writes: {max: 3}, actions: [change]}
  emulator: accepts                  # or refuses, {refuses: {text: TEXT}}

A request has the keys of "edgewise trace --requests"; answers have the names of
"edgewise trace --json". An unknown answer fails, unless the test expects
{unknown: true} or {either: [VALUE, …]}. Guide: docs/guides/test-manifests.md`

/** Parses a share such as `80%`, in percent. */
function parseShare(value: string): number {
  const share = /^(\d{1,3}(?:\.\d+)?)%$/.exec(value)?.[1]
  if (share !== undefined && Number(share) <= 100) return Number(share)
  throw new InvalidArgumentError('Expected a share from 0% to 100%, such as 80%.')
}
