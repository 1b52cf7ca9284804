import { Option, type Command } from 'commander'
import type { EmulatorFlags } from '../emulator.ts'
import type { Declare } from './declare.ts'
import { collect, createIntegerParser } from './options.ts'

/** `edgewise emulator`: the service on this machine, until it is interrupted. */
export function declareEmulator(program: Command, declare: Declare): void {
  declare<EmulatorFlags>(program, 'emulator', {
    description: 'run the service on this machine',
    examples: [
      'emulator',
      'emulator --port 8080 --token dev --data emulator.json',
      'emulator --seed demo --fault error:on=3,status=502',
    ],
    run: async (context, args, options) =>
      (await import('../emulator.ts')).runEmulator(context, args, options),
  })
    .option(
      '--port <number>',
      'port to listen on; 0 takes a free one',
      createIntegerParser(0, 65_535),
      0,
    )
    .option(
      '--host <address>',
      'address to listen on; other than loopback insists on --token',
      '127.0.0.1',
    )
    .option('--token <token>', 'the only token that is accepted; without it any is')
    .option(
      '--domains <file>',
      'domains that exist, one a line; without it every well-formed one does',
    )
    .option('--data <file>', 'keep what it is told in this file')
    .option(
      '--calls-per-minute <number>',
      'call rate of writes; 0 refuses nothing',
      createIntegerParser(0, 1_000_000),
      30,
    )
    .addOption(
      new Option('--control <mode>', 'control surface under /_emulator')
        .choices(['on', 'off'])
        .default('on'),
    )
    .addOption(
      new Option(
        '--limit-style <style>',
        'how a write over the call rate is refused: HTTP 429, or HTTP 200 and a code',
      )
        .choices(['status', 'body'])
        .default('status'),
    )
    .option(
      '--seed <text>',
      'what statistics, prefetches and faults by probability are drawn from',
      'edgewise',
    )
    .option('--timezone <name>', 'time zone of dates, by its IANA name', 'UTC')
    .option(
      '--dead-origin <address>',
      'an origin that answers nobody; may be given several times',
      collect,
      [],
    )
    .option(
      '--fault <fault>',
      'what goes wrong, e.g. reset-after:on=2 or delay:ms=500,probability=0.1; may be given several times',
      collect,
      [],
    )
    .option('--lenient', 'ignore unknown fields instead of refusing them')
}
