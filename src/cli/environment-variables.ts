/** Variables of the environment that have one purpose. */
export interface EnvironmentVariable {
  name: string[]
  /** What the variable does, in a sentence. */
  purpose: string
}

/**
 * The environment variables that commands read, in the order of the documentation. Those that the
 * GitHub action reads are its own.
 */
export const environmentVariables: readonly EnvironmentVariable[] = [
  {
    name: ['EDGEWISE_TOKEN'],
    purpose:
      'Token of the service, unless `service.token` of `edgewise.yaml` names another variable.',
  },
  {
    name: ['EDGEWISE_EMULATOR_TOKEN'],
    purpose: 'Token that `edgewise emulator` accepts, without `--token` and `--token-file`.',
  },
  {
    name: ['PGUSER', 'PGPASSWORD', 'PGPASSFILE'],
    purpose:
      'User, password and file of passwords for the database with the state, if `state.url` has ' +
      'none.',
  },
  {
    name: ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'],
    purpose:
      'Proxies for calls to the service, in either letter case. Plain http to this machine uses ' +
      'none.',
  },
  {
    name: ['COLUMNS'],
    purpose:
      'Width of text that is not for a terminal, from 20; without it such text is not wrapped.',
  },
  {
    name: ['NO_COLOR', 'FORCE_COLOR', 'TERM'],
    purpose:
      '`NO_COLOR` with a value, or `TERM=dumb`, disables colours. `FORCE_COLOR` enables them ' +
      'without a terminal; with 0 it disables them.',
  },
  {
    name: ['CI'],
    purpose:
      'Set by CI services. Commands then have no cache, and refuse to change state in a folder ' +
      'of the checkout unless they get `--allow-local-state`.',
  },
  {
    name: ['GITHUB_ACTOR', 'GITLAB_USER_LOGIN'],
    purpose: 'Author of an apply in the history; by default the user of the machine.',
  },
  {
    name: ['XDG_STATE_HOME', 'LOCALAPPDATA', 'HOME'],
    purpose:
      'Where folder stores of one user share the calls of an account: the folder `edgewise` in ' +
      '`XDG_STATE_HOME`, else in `~/.local/state`; on Windows in `LOCALAPPDATA`.',
  },
  {
    name: ['XDG_CACHE_HOME'],
    purpose:
      'Where the cache of manifests, state and compiled code is: the folder `edgewise` in ' +
      '`XDG_CACHE_HOME`, else in `~/.cache`; on Windows in `LOCALAPPDATA`. There is none below a ' +
      'work tree of any version control system.',
  },
  {
    name: ['SUDO_UID'],
    purpose: 'User of `sudo`, whose repositories root may use, as with git.',
  },
  {
    name: ['EDGEWISE_CACHE'],
    purpose:
      '`on` enables the cache in CI jobs: for runners that keep it apart for each trusted branch.',
  },
  {
    name: ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'],
    purpose:
      'Address that gets traces over OTLP. [Traces](../guides/traces.md) has more variables.',
  },
  {
    name: ['OTEL_SDK_DISABLED', 'OTEL_TRACES_EXPORTER'],
    purpose: '`true` and `none` disable traces.',
  },
  {
    name: ['TRACEPARENT', 'TRACESTATE'],
    purpose: 'Span of another program that the trace of a command belongs to.',
  },
]
