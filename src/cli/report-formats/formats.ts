import { extname } from 'node:path'
import type { Renderers, ReportCommand } from './subjects.ts'

/** A format of reports. */
export interface Format {
  /** Loads its renderers, which no command without a report needs. */
  load(): Promise<{ renderers: Renderers }>
  /** Commands that have it. */
  commands: Partial<Record<ReportCommand, true>>
  /** Name that the help adds to the ending. */
  name?: string
  /** Whether it shows the commit, and the changes of all applies: they are loaded only for it. */
  isPage?: true
}

const pages = {
  plan: true,
  apply: true,
  drift: true,
  history: true,
  show: true,
  list: true,
} as const
const all = { ...pages, test: true } as const

/** Formats by the ending of the file, in the order of the help: for each a row and a file. */
const formats: Record<string, Format> = {
  '.xml': declareFormat({
    load: () => import('./junit.ts'),
    commands: { test: true },
    name: 'JUnit',
  }),
  '.md': declareFormat({
    load: () => import('./markdown.ts'),
    commands: all,
  }),
  '.html': declareFormat({
    load: () => import('./html.ts'),
    commands: pages,
    isPage: true,
  }),
  '.json': declareFormat({
    load: () => import('./json.ts'),
    commands: all,
  }),
  '.yaml': declareFormat({ load: () => import('./yaml.ts'), commands: { show: true } }),
}

/** Returns a row. It compiles only with exactly the commands that its file has renderers for. */
function declareFormat<R extends Renderers>(
  row: Omit<Format, 'load' | 'commands'> & {
    load(): Promise<{ renderers: R }>
    commands: NoInfer<Record<keyof R, true>>
  },
): Format {
  return row
}

/** Lists the endings of the reports of a command. */
export function listEndings(command: ReportCommand): string[] {
  return Object.keys(formats).filter((ending) => formats[ending]?.commands[command] === true)
}

/** Describes the endings of the reports of a command: a list for a sentence. */
export function describeEndings(command: ReportCommand): string {
  const endings = listEndings(command).map((ending) => {
    const { name } = formats[ending] ?? {}
    return name === undefined ? ending : `${ending} (${name})`
  })
  return `${endings.slice(0, -1).join(', ')} or ${endings.at(-1)}`
}

/** Finds the format of a report by its ending; undefined if the command has none with it. */
export function findFormat(command: ReportCommand, file: string): Format | undefined {
  const ending = extname(file)
  return listEndings(command).includes(ending) ? formats[ending] : undefined
}
