import { InvalidArgumentError, Option } from 'commander'
import type { TraceCommandOptions } from '../requests/trace.ts'
import type { Declare } from './declare.ts'
import { createIntegerParser } from './options.ts'

/** `edgewise trace`: shows what a configuration does to requests. Calls nothing. */
export function declareTrace(declare: Declare): void {
  const command = declare<TraceCommandOptions>('trace [urls...]', {
    description: 'show what a configuration does to a request, without any call',
    args: ['URLs of requests; - reads them from stdin'],
    examples: [
      'trace https://www.example.com/img/a.jpg',
      'trace https://www.example.com/ --ip 203.0.113.7',
      'trace --requests requests.txt --json',
      'trace https://www.example.com/a.jpg --of recorded --vary',
    ],
    run: async (context, args, options) =>
      (await import('../requests/trace.ts')).trace(context, args, options),
  })
  command
    .option(
      '--requests <file>',
      'requests from a file: "[METHOD ]URL" a line, YAML, JSON or NDJSON',
    )
    .option(
      '--of <what>',
      'desired (manifests), recorded (state), observed, or a JSON file',
      'desired',
    )
    .option('--observed <file>', 'with --of observed: a JSON file {domain: {item: value}}')
    .addOption(
      new Option(
        '--assume <answers>',
        'answers of readings: R4=whole,R17=404, unmanaged=unknown',
      ).argParser(collect),
    )
    .addOption(new Option('--served', 'a panel for edgewise serve').hideHelp())
    .option('--vary', 'show what another answer of each assumed reading would change')
    .addOption(
      new Option('--visitor <who>', 'what holds for facts that are not given')
        .choices(['usual', 'unknown'])
        .default('usual'),
    )
  for (const [flags, description, parse] of facts) {
    const option = new Option(flags, description)
    command.addOption(parse === undefined ? option : option.argParser<unknown>(parse))
  }
  command.addHelpText(
    'after',
    `
Facts hold for all requests that do not have them themselves. Others are those
of a usual visitor: GET, a current browser, an address and a country that are on
no list, an origin that answers 200. "edgewise explain readings" lists what the
specification does not say, with the answers that hold.`,
  )
}

const count = createIntegerParser(0, 999_999_999_999_999)

const facts: [
  flags: string,
  description: string,
  parse?: (value: string, before: unknown) => unknown,
][] = [
  ['--method <method>', 'method of the request'],
  ['--referer <text>', 'short for --header "Referer: TEXT"'],
  ['--user-agent <text>', 'short for --header "User-Agent: TEXT"'],
  ['--ip <address>', "the client's address"],
  ['--country <name>', "the client's country, as the service names it"],
  ['--isp <carrier>', "the client's carrier: dx, lt, yd or other"],
  ['--at <time>', 'date and time with a zone, or Unix seconds'],
  ['--time <HH:MM>', 'time of day by the clock of the service'],
  ['--body-size <bytes>', 'size of the uploaded body', count],
  ['--signature <state>', 'whether the signature of the URL is valid or invalid'],
  ['--origin-status <code>', "status of the origin's answer", count],
  ['--origin-size <bytes>', "size of the origin's answer", count],
  ['--header <header>', 'header of the request, as "Name: value"; may be repeated', collectHeader],
  ['--no-header <name>', 'header that the request does not have; may be repeated', collectName],
  ['--origin-header <header>', 'header of the answer of the origin; repeatable', collectHeader],
]

/** Collects `Name: value`; a name alone, as --no-header collects it, is an absent header. */
function collectHeader(value: string, before: unknown): string[] {
  if (!/^[^:\s]+\s*:/.test(value)) throw new InvalidArgumentError('Expected "Name: value".')
  return collect(value, before)
}

function collectName(value: string, before: unknown): string[] {
  if (/[:\s]/.test(value)) throw new InvalidArgumentError('Expected the name alone.')
  return collect(value, before)
}

/** Collects the values of a repeated option. */
function collect(value: string, before: unknown): string[] {
  return Array.isArray(before) ? [...(before as string[]), value] : [value]
}
