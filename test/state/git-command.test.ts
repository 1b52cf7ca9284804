// @module-tag often
import { spawn } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createDetachedGit } from '../../src/state/git/detached-git.ts'
import { formatGitError, type Git } from '../../src/state/git/git-command.ts'
import { buildGitEnvironment, outsideRepositories } from '../../src/state/git/git-environment.ts'
import { createLibraryGit } from '../../src/state/git/library-git.ts'
import { findHeadCommit } from '../../src/state/git/open-git.ts'
import { GitSandbox } from './git-sandbox.ts'

const runners = [
  ['a separate process group', createDetachedGit],
  ['simple-git', createLibraryGit],
] as const

describe('the environment of git', () => {
  it('passes the variables of git, its helpers and ssh', () => {
    const given = {
      PATH: '/bin',
      HOME: '/home/me',
      SSH_AUTH_SOCK: '/run/agent',
      GIT_SSH_COMMAND: 'ssh -i key',
      GIT_ASKPASS: '/bin/askpass',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      https_proxy: 'http://proxy:3128',
      GITHUB_TOKEN: 'of the forge',
    }
    expect(buildGitEnvironment(given, 'of the service')).toMatchObject(given)
  })

  it('passes no other variables, and none that contains the token of the service', () => {
    const given = {
      GIT_DIR: '/x',
      GIT_INDEX_FILE: '/x',
      GIT_WORK_TREE: '/x',
      AWS_SECRET: 'x',
      EDGEWISE_TOKEN: 't0k',
      GITHUB_TOKEN: 'Bearer t0k',
      NOTHING: undefined,
    }
    expect(Object.keys(buildGitEnvironment(given, 't0k')).toSorted()).toEqual([
      'GCM_INTERACTIVE',
      'GIT_TERMINAL_PROMPT',
      'LC_ALL',
      'SSH_ASKPASS_REQUIRE',
    ])
  })
})

describe('an error of git', () => {
  it.each(['hunter2', 'hunter@2'])('has no credentials, hints and prefixes: %s', (password) => {
    const url = `https://user:${password}@git.example.com/x.git/`
    const err = `hint: try again\nfatal: unable to access '${url}': no route\nremote: closed\n`
    expect(formatGitError({ code: 1, out: Buffer.alloc(0), err })).toBe(
      "unable to access 'https://git.example.com/x.git/': no route; closed",
    )
  })
})

describe.each(runners)('git in %s', (_runner, gitIn) => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'edgewise-git-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))
  const script = (path: string, text: string) =>
    writeFileSync(join(folder, path), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  const place = () => ({ cwd: folder, gitFolder: '/dev/null', workTree: join(folder, 'tree') })
  const withScript = () => gitIn(place(), { PATH: `${folder}:${process.env['PATH'] ?? ''}` })

  it.each(['INT', 'TERM'])('is repeated if SIG%s ended it before it started', async (signal) => {
    script('git', `[ -e begun ] && exec echo done\n: > begun\nkill -${signal} $$\nsleep 5`)
    const { code, out } = await withScript()(['look'])
    expect([code, String(out), existsSync(join(folder, 'begun'))]).toEqual([0, 'done\n', true])
  })

  it('is no program of the work tree, nor of a relative folder', async () => {
    mkdirSync(join(folder, 'tree'))
    script('git', 'echo "$PATH"')
    script('tree/git', 'echo of a commit')
    const path = ['.', 'tree', '', join(folder, 'tree'), folder, join(folder, 'tree/none'), '/bin']
    const { out } = await gitIn(place(), { PATH: path.join(':') })(['look'])
    expect(String(out)).toBe(`${folder}:/bin\n`)
  })

  it('is no program of the current folder where nothing is left of PATH', async () => {
    script('git', 'echo of a commit')
    await expect(gitIn(place(), { PATH: 'tree:.' })(['look'])).rejects.toMatchObject({
      code: 'unavailable',
    })
  })

  it.each([
    ['HOME', '/dev/null'],
    ['XDG_CONFIG_HOME', '/dev/null'],
    ['GIT_CONFIG_GLOBAL', '/dev/null'],
    ['GIT_CONFIG_SYSTEM', ''],
    ['GIT_ASKPASS', ''],
  ])('gets nothing of the work tree by %s', async (name, left) => {
    script('git', `echo "$GIT_CONFIG_GLOBAL $GIT_CONFIG_SYSTEM $GIT_ASKPASS"`)
    const env = { PATH: `${folder}:/bin`, [name]: join(folder, 'tree', 'x') }
    const { out } = await gitIn(place(), env)(['look'])
    expect(String(out).trim()).toBe(left)
  })

  it('fails after three interrupts', async () => {
    script('git', 'echo run >> runs\nkill -INT $$')
    expect((await withScript()(['look'])).code).not.toBe(0)
    expect(readFileSync(join(folder, 'runs'), 'utf8')).toBe('run\nrun\nrun\n')
  })

  it('throws if it is not installed', async () => {
    await expect(
      gitIn(outsideRepositories(tmpdir()), { PATH: '/nowhere' })(['version']),
    ).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('git is not installed') as string,
    })
  })

  it('receives its input, or an empty one', async () => {
    script('git', 'cat; echo end')
    expect(String((await withScript()(['look'], 'é\n')).out)).toBe('é\nend\n')
    expect(String((await withScript()(['look'])).out)).toBe('end\n')
  })

  it('returns all of a large output, and its exit code', async () => {
    const bytes = Buffer.from(Array.from({ length: 3_000_000 }, (_, i) => (i * 7) % 256))
    writeFileSync(join(folder, 'bytes'), bytes)
    script('git', 'cat bytes; echo why >&2; exit 3')
    const { code, out, err } = await withScript()(['look'])
    expect([code, out.equals(bytes), err]).toEqual([3, true, 'why\n'])
  })
})

/** Settings of a repository that start a program if git uses them. */
const hostile = (mark: string): Record<string, string> => ({
  'core.fsmonitor': mark,
  'core.hooksPath': `${mark}-hooks`,
  'core.pager': mark,
  'core.editor': mark,
  'core.askPass': mark,
  'core.gitProxy': mark,
  'core.sshCommand': mark,
  'core.alternateRefsCommand': mark,
  'credential.helper': `!${mark}`,
  'sequence.editor': mark,
  'gpg.program': mark,
  'gpg.ssh.program': mark,
  'commit.gpgSign': 'true',
  'protocol.ext.allow': 'always',
  'push.gpgSign': 'true',
  'tag.gpgSign': 'true',
  'gc.auto': '1',
  'maintenance.auto': 'true',
  'diff.external': mark,
  'diff.evil.command': mark,
  'diff.evil.textconv': mark,
  'filter.evil.clean': mark,
  'filter.evil.smudge': mark,
  'filter.evil.process': mark,
  'merge.evil.driver': mark,
  'interactive.diffFilter': mark,
  'trailer.evil.command': mark,
  'uploadpack.packObjectsHook': mark,
  'submodule.evil.update': `!${mark}`,
  'fetch.recurseSubmodules': 'true',
  'url.ext::evil.insteadOf': 'https://elsewhere.example.com',
  'includeIf.gitdir:/.path': `${mark}-config`,
})

const hooks = [
  'pre-push',
  'reference-transaction',
  'pre-auto-gc',
  'post-index-change',
  'post-checkout',
  'pre-commit',
  'post-commit',
]

/** Variables that redirect git or start a program. */
const redirecting = (victim: string, mark: string): Record<string, string> => ({
  GIT_DIR: victim,
  GIT_COMMON_DIR: victim,
  GIT_WORK_TREE: victim,
  GIT_INDEX_FILE: `${victim}/index`,
  GIT_OBJECT_DIRECTORY: `${victim}/objects`,
  GIT_NAMESPACE: 'elsewhere',
  GIT_PREFIX: 'sub/',
  GIT_EDITOR: mark,
  GIT_SEQUENCE_EDITOR: mark,
  GIT_PAGER: mark,
  GIT_EXTERNAL_DIFF: mark,
  GIT_PROXY_COMMAND: mark,
  GIT_TEMPLATE_DIR: `${mark}-hooks`,
  GIT_CONFIG_PARAMETERS: `'core.hooksPath=${mark}-hooks'`,
  EDITOR: mark,
  VISUAL: mark,
  PAGER: mark,
  SSH_ASKPASS: mark,
})

describe.each(runners)('a hostile repository, with git in %s', (_runner, gitIn) => {
  let sandbox: GitSandbox
  let mark: string
  let git: Git
  beforeEach(async () => {
    sandbox = new GitSandbox()
    const clone = await sandbox.withRemote()
    await sandbox.repository('victim')
    mark = join(sandbox.folder, 'mark')
    const text = `#!/bin/sh\necho "$0 $*" >> ${mark}.ran\nexit 1\n`
    mkdirSync(`${mark}-hooks`)
    writeFileSync(mark, text, { mode: 0o755 })
    for (const hook of hooks) {
      for (const place of [`${mark}-hooks`, join(clone, '.git', 'hooks')])
        writeFileSync(join(place, hook), text, { mode: 0o755 })
    }
    writeFileSync(join(clone, '.gitattributes'), '* diff=evil filter=evil merge=evil\n')
    writeFileSync(join(clone, 'file'), 'text\n')
    writeFileSync(`${mark}-config`, `[alias]\n\tlook = !${mark}\n`)
    await sandbox.git('clone', '-c', 'core.hooksPath=/dev/null', 'add', '.')
    await sandbox.git('clone', '-c', 'core.hooksPath=/dev/null', 'commit', '-qm', 'second')
    const settings = Object.entries(hostile(mark)).concat(
      commands('').flatMap(([command = '']): [string, string][] => [
        [`alias.${command}`, `!${mark}`],
        [`pager.${command}`, mark],
      ]),
    )
    const config = settings.map(([key, value]) => {
      const [section, sub, name] = /^([^.]*)\.(?:(.*)\.)?([^.]*)$/.exec(key)?.slice(1) ?? []
      return `[${section}${sub === undefined ? '' : ` "${sub}"`}]\n\t${name} = "${value}"\n`
    })
    appendFileSync(join(clone, '.git', 'config'), config.join(''))
    const given = {
      ...sandbox.env,
      ...redirecting(join(sandbox.folder, 'victim', '.git'), mark),
      GIT_COMMITTER_NAME: 'Test',
      GIT_COMMITTER_EMAIL: 'test@example.com',
    }
    const place = { cwd: clone, gitFolder: join(clone, '.git'), workTree: clone }
    git = gitIn(place, buildGitEnvironment(given, ''))
  })
  afterEach(() => sandbox.remove())

  /** Lists the git commands that load and save state. */
  const commands = (head: string): [...args: string[]][] => [
    ['rev-parse', '--git-common-dir'],
    ['config', '--get-regexp', '^remote'],
    ['for-each-ref'],
    ['var', 'GIT_COMMITTER_IDENT'],
    ['worktree', 'list', '--porcelain'],
    ['merge-base', 'HEAD', 'HEAD'],
    ['ls-tree', '-r', 'HEAD'],
    ['cat-file', 'blob', 'HEAD:file'],
    ['diff-tree', '-r', '--numstat', 'HEAD^', 'HEAD'],
    ['hash-object', '-t', 'tree', '--stdin'],
    ['update-ref', 'refs/edgewise/one', 'HEAD'],
    ['push', '--quiet', '--no-verify', 'origin', 'HEAD:refs/heads/edgewise-state'],
    ['ls-remote', 'origin'],
    ['fetch', '--quiet', 'origin', '+refs/heads/edgewise-state:refs/edgewise/fetched'],
    ['update-ref', '-d', 'refs/edgewise/one', head],
  ]

  it('starts no program from its settings or the environment', async () => {
    const victim = await sandbox.git('victim', 'for-each-ref')
    const head = String((await git(['rev-parse', 'HEAD'])).out).trim()
    for (const args of commands(head))
      expect({ args, ...(await git(args)) }).toMatchObject({ args, code: 0 })
    expect(await git(['ls-remote', `ext::${mark}`])).toMatchObject({ code: 128 })
    const ident = 'A <a@example.com> 0 +0000'
    const stream = `commit refs/edgewise/two\ncommitter ${ident}\ndata 1\nx\n\ndone\n`
    expect(await git(['fast-import', '--quiet', '--done'], stream)).toMatchObject({ code: 0 })
    expect(existsSync(`${mark}.ran`)).toBe(false)
    expect(await sandbox.git('victim', 'for-each-ref')).toBe(victim)
    expect(await sandbox.git('remote.git', 'rev-parse', 'edgewise-state')).toBe(head)
  })
})

it('simple-git refuses arguments that start a program', async () => {
  const git = createLibraryGit(outsideRepositories(tmpdir()), buildGitEnvironment(process.env, ''))
  for (const args of [
    ['ls-remote', '--upload-pack=touch mark', 'origin'],
    ['fetch', '--upload-pack', 'touch mark', 'origin'],
    ['-c', 'core.sshCommand=touch mark', 'ls-remote', 'origin'],
    ['-c', 'alias.look=!touch mark', 'look'],
    ['-c', 'credential.helper=!touch mark', 'ls-remote', 'origin'],
  ])
    await expect(git(args)).rejects.toThrow('is not permitted without enabling')
})

it('the commit that is checked out is looked up by git inside of a repository only', async () => {
  const sandbox = new GitSandbox()
  const inside = await sandbox.repository('inside')
  const head = await sandbox.git('inside', 'rev-parse', 'HEAD')
  mkdirSync(join(inside, 'deep'))
  mkdirSync(join(sandbox.folder, 'outside'))
  mkdirSync(join(sandbox.folder, 'bin'))
  writeFileSync(
    join(sandbox.folder, 'bin', 'git'),
    `#!/bin/sh\n: > "${sandbox.folder}/ran"\nPATH="${sandbox.env['PATH']}" exec git "$@"\n`,
    { mode: 0o755 },
  )
  const env = { ...sandbox.env, PATH: `${join(sandbox.folder, 'bin')}:${sandbox.env['PATH']}` }
  expect(await findHeadCommit(join(sandbox.folder, 'outside'), env)).toBe(null)
  expect(existsSync(join(sandbox.folder, 'ran'))).toBe(false)
  expect(await findHeadCommit(join(inside, 'deep'), env)).toBe(head)
  expect(existsSync(join(sandbox.folder, 'ran'))).toBe(true)
  sandbox.remove()
})

it.each([
  ['detached-git.ts', 'createDetachedGit', 'finished'],
  ['library-git.ts', 'createLibraryGit', 'repeated'],
])('an interrupt of our process group: git of %s, %s, is %s', async (file, name, outcome) => {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-group-'))
  // Interrupts the process group of its parent, as Ctrl-C does.
  writeFileSync(
    join(folder, 'git'),
    '#!/bin/sh\n[ -e begun ] && exec echo repeated\n: > begun\nkill -INT -$GROUP\necho finished\n',
    { mode: 0o755 },
  )
  const path = fileURLToPath(new URL(`../../src/state/git/${file}`, import.meta.url))
  const text = `import { ${name} as gitIn } from ${JSON.stringify(path)}
process.on('SIGINT', () => undefined)
const env = { PATH: ${JSON.stringify(folder)} + ':' + process.env.PATH, GROUP: String(process.pid) }
const place = { cwd: ${JSON.stringify(folder)}, gitFolder: '/dev/null', workTree: '/none' }
const { out } = await gitIn(place, env)(['look'])
process.stdout.write(out)
`
  writeFileSync(join(folder, 'run.mts'), text)
  const child = spawn(process.execPath, ['--import', 'tsx', join(folder, 'run.mts')], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  for await (const chunk of child.stdout) output += String(chunk)
  expect(output).toBe(`${outcome}\n`)
  rmSync(folder, { recursive: true, force: true })
})
