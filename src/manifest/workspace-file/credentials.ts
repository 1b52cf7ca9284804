import { decodePercent } from '../manifests/readings.ts'
import { trimLineBreak } from '../secrets/run-command.ts'
import { type Environment, listVariables } from './workspace-env.ts'
import type { PlacedText, StateConfig } from '../../core/model/config.ts'
import { type JsonObject, getOwn, isObject, resolvePointer } from '../../core/model/json.ts'
import { parseUrl } from '../../core/model/text/url.ts'

/** A text that belongs to one place of the workspace file only. */
export interface Credential {
  /** Its kind, for messages. */
  name: string
  /** Where it belongs: a clause for messages. */
  rule: string
  /** Variables that hold it. */
  variables: ReadonlySet<string>
  values: readonly string[]
  /** Minimum length of a value that is looked for. */
  minLength: number
  /** Whether it is a secret of manifests. */
  isSecret?: true
  belongsTo(text: PlacedText): boolean
}

/** Minimum length of a value that is looked for; a shorter one may be a part of any name. */
export const minLength = 4
/** The same for a value that is looked for in texts that are not known to come from it. */
export const minLongLength = 8

/** Variables with credentials that only Edgewise itself reads, whatever the file says. */
export const ownVariables = [
  'EDGEWISE_ID_TOKEN',
  'EDGEWISE_SERVE_TOKEN',
  'EDGEWISE_WEBHOOK_SECRET',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
]
/** Variable of the token by default; it stays reserved where the file names another one. */
export const tokenVariable = 'EDGEWISE_TOKEN'

/**
 * Lists the credentials of a workspace file, without secrets from files and commands.
 *
 * @param written the file as it is
 * @param replaced the file with its variables replaced; it may be invalid
 */
export function listCredentials(
  written: JsonObject,
  replaced: JsonObject,
  env: Environment,
): Credential[] {
  const getText = (content: JsonObject, pointer: string) => {
    const text = resolvePointer(content, pointer)
    return typeof text === 'string' ? text : ''
  }
  const token = createTokenCredential(
    [tokenVariable, ...listVariables(getText(written, '/service/token'))],
    [getText(replaced, '/service/token'), getVariable(env, tokenVariable)],
  )
  // Where the token is in a wrong place, it is not something else, too.
  const ofToken = new Set([...token.variables, ...token.values])
  const isOther = (text: string) => !ofToken.has(text)
  const url = getText(written, '/state/url')
  const password = parseUrl(getText(replaced, '/state/url'))?.password ?? ''
  const receivers = getOwn(written, 'notify')
  const count = Array.isArray(receivers) ? receivers.length : 0
  const keys = new Set(Array.from({ length: count }, (_, i) => `/notify/${i}/secret`))
  return [
    token,
    ...listSources(replaced).map(({ name, variable }) =>
      createSecretCredential(name, [variable], getVariable(env, variable)),
    ),
    {
      name: 'the password of the database',
      rule: 'which only "state.url" may use',
      variables: new Set([passwordVariable, ...findPasswordVariables(url).filter(isOther)]),
      values: [
        ...[password, decodePercent(password)].filter(isOther),
        getVariable(env, passwordVariable),
      ],
      minLength: minLongLength,
      belongsTo: ({ pointer }) => pointer === '/state/url',
    },
    {
      name: 'the key of a receiver',
      rule: 'which only "secret" under "notify" may use',
      variables: new Set(
        [...keys].flatMap((pointer) => listVariables(getText(written, pointer))).filter(isOther),
      ),
      values: [...new Set([...keys].map((pointer) => getText(replaced, pointer)))].filter(isOther),
      minLength: minLongLength,
      belongsTo: ({ pointer }) => keys.has(pointer),
    },
    createClientCredential(written, replaced, isOther),
    createKeyCredential(getText(written, '/sign/key/env'), env),
    {
      name: 'a credential of Edgewise itself',
      rule: 'which no key of this file may use',
      variables: new Set(ownVariables),
      values: ownVariables.map((name) => getVariable(env, name)),
      minLength: minLongLength,
      belongsTo: () => false,
    },
  ]
}

/** Creates the credential of the client that is registered at the provider. */
function createClientCredential(
  written: JsonObject,
  replaced: JsonObject,
  isOther: (text: string) => boolean,
): Credential {
  const pointer = '/serve/auth/clientSecret'
  const [text, value] = [written, replaced].map((content) => resolvePointer(content, pointer))
  return {
    name: 'the secret of the client',
    rule: 'which only "serve.auth.clientSecret" may use',
    variables: new Set(typeof text === 'string' ? listVariables(text).filter(isOther) : []),
    values: typeof value === 'string' ? [value].filter(isOther) : [],
    minLength: minLongLength,
    belongsTo: (place) => place.pointer === pointer,
  }
}

/** Creates the credential of the key that signs the history; empty without a variable. */
function createKeyCredential(variable: string, env: Environment): Credential {
  return {
    name: 'the key of the history',
    rule: 'which only "sign.key" may use',
    variables: new Set(variable === '' ? [] : [variable]),
    values: variable === '' ? [] : listKeyTexts(getVariable(env, variable)),
    minLength: minLongLength,
    belongsTo: () => false,
  }
}

/** Creates the credential of the token. */
export function createTokenCredential(variables: string[], values: string[]): Credential {
  return {
    name: 'the token',
    rule: 'which only "service.token" may use',
    variables: new Set(variables),
    values,
    minLength,
    belongsTo: ({ pointer }) => pointer === '/service/token',
  }
}

/** Creates the credential of a secret of manifests. */
export function createSecretCredential(
  name: string,
  variables: string[],
  value: string,
): Credential {
  return {
    name: `the secret "${name}"`,
    rule: `which only items may use, as "\${secret:${name}}"`,
    variables: new Set(variables),
    values: [value],
    minLength,
    isSecret: true,
    belongsTo: ({ isCredential }) => isCredential,
  }
}

/** Lists the secrets that come from variables. */
export function listSources(replaced: JsonObject): { name: string; variable: string }[] {
  const secrets = getOwn(replaced, 'secrets')
  return Object.entries(isObject(secrets) ? secrets : {}).flatMap(([name, source]) => {
    const variable = isObject(source) ? getOwn(source, 'env') : undefined
    return typeof variable === 'string' ? [{ name, variable }] : []
  })
}

/** Lists the lines of a private key in PEM that must stay hidden. */
export function listKeyTexts(pem: string): string[] {
  return pem
    .split(/[\r\n]+/)
    .filter((line) => line.length >= minLongLength && !line.startsWith('--'))
}

/** Returns the value of a variable without a final line break; empty if it is not set. */
export function getVariable(env: Environment, name: string): string {
  return trimLineBreak((Object.hasOwn(env, name) ? env[name] : undefined) ?? '')
}

/** Finds the variables of an address that may hold its password: its begin, and that part. */
function findPasswordVariables(url: string): string[] {
  const [start = ''] = /^(?:\$\{env:[^}]*\})+/.exec(url) ?? []
  const [user = '', ...others] = url.slice(url.indexOf('://') + 3).split('@')
  const [name = '', ...rest] = user.split(':')
  const password = others.length > 0 && !name.includes('/') ? rest.join(':') : ''
  return [...listVariables(start), ...listVariables(password)]
}

/** The parts of a database's settings that must stay hidden. */
export interface DatabaseSecrets {
  /** Names of the variables that may hold its address or its password. */
  variables: string[]
  /** Its passwords: as written in the address, and decoded. */
  passwords: string[]
}

/** Variable of PostgreSQL with the password of an address that has none. */
export const passwordVariable = 'PGPASSWORD'

/** Lists what must stay hidden of the database with the state; nothing with another store. */
export function listDatabaseSecrets(
  { database, variables = [] }: StateConfig,
  env: Record<string, string | undefined>,
): DatabaseSecrets {
  const written = database === undefined ? '' : new URL(database.url).password
  const outer = variables.includes(passwordVariable) ? (env[passwordVariable] ?? '') : ''
  const passwords = new Set([written, decodeURIComponent(written), outer])
  passwords.delete('')
  return { variables, passwords: [...passwords] }
}
