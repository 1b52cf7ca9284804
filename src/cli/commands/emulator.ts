import { Option, type Command } from 'commander'
import type { EmulatorFlags } from '../emulator.ts'
import type { Declare } from './declare.ts'
import { collect, createIntegerParser } from './options.ts'

/** `edgewise emulator`: runs an emulator of the service until it is interrupted. */
export function declareEmulator(declare: Declare): void {
  const command = declare<EmulatorFlags>('emulator', {
    description: 'run an emulator of the service',
    examples: [
      'emulator',
      'emulator --port 8080 --token-file token --data emulator.json',
      'emulator --seed demo --faults faults.json',
    ],
    run: async (context, args, options) =>
      (await import('../emulator.ts')).runEmulator(context, args, options),
  })
  addAnswerOptions(addServerOptions(command))
}

/** Adds the options for the address, the token and the stored data. */
function addServerOptions(command: Command): Command {
  return command
    .option(
      '--port <number>',
      'port to listen on; 0 picks a free one',
      createIntegerParser(0, 65_535),
      0,
    )
    .option(
      '--host <address>',
      'address to listen on; any but loopback requires a token',
      '127.0.0.1',
    )
    .option(
      '--token <token>',
      'the only accepted token, visible to other users; by default EDGEWISE_EMULATOR_TOKEN or any',
    )
    .addOption(new Option('--token-file <file>', 'file of the token').conflicts('token'))
    .option('--domains <file>', 'existing domains, one per line; every well-formed one by default')
    .option('--data <file>', 'persist its data in this file')
}

/** Adds the options for the answers: call rate, items, statistics and faults. */
function addAnswerOptions(command: Command): Command {
  return command
    .option(
      '--calls-per-minute <number>',
      'call rate of writes; 0 refuses nothing',
      createIntegerParser(0, 1_000_000),
      30,
    )
    .addOption(
      new Option(
        '--control <mode>',
        'control surface under /_emulator; on by default, on loopback only',
      ).choices(['on', 'off']),
    )
    .addOption(
      new Option(
        '--limit-style <style>',
        'refusal of a write over the call rate: HTTP 429, or HTTP 200 with a code',
      )
        .choices(['status', 'body'])
        .default('status'),
    )
    .option(
      '--item-keys <item=name>',
      'name of an item on the wire, as service.itemKeys in edgewise.yaml; repeatable',
      collect,
      [],
    )
    .option(
      '--seed <text>',
      'seed of statistics, prefetches and faults with a probability',
      'edgewise',
    )
    .option('--timezone <name>', 'IANA time zone of dates', 'UTC')
    .option('--dead-origin <address>', 'an origin that never answers; repeatable', collect, [])
    .option('--faults <file>', 'faults to inject, as {"faults": [{"kind": "error", "on": [2]}]}')
    .option('--lenient', 'ignore unknown fields instead of refusing them')
    .option(
      '--extended',
      'offer what some accounts have beyond the specification, such as reading the configuration',
    )
    .option(
      '--deploy-seconds <number>',
      'with --extended, time that a changed domain is "deploying"; 0 by default',
      createIntegerParser(0, 86_400),
    )
}
