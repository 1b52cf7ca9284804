import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import {
  escapeInvisible,
  escapeInvisibleInLines,
} from '../../src/outlets/report/text/escape-invisible.ts'
import type { Step, Workflow } from '../action/templates.ts'
import { Place } from './cli.ts'
import { itLong } from '../runs.ts'

const commit = '0123456789abcdef0123456789abcdef01234567'
const action = `team/edgewise@${commit}`
const image = `images.example.com:5000/team/edgewise:1.2@sha256:${'0123456789abcdef'.repeat(4)}`
const kinds = ['plan', 'apply', 'drift', 'operate']
const workflows = kinds.map((kind) => `.github/workflows/edgewise-${kind}.yml`)
const owners = ['.github', '.gitlab', '.', 'docs'].map((folder) => join(folder, 'CODEOWNERS'))
const example = (path: string) =>
  readFileSync(fileURLToPath(new URL(`../../examples/${path}`, import.meta.url)), 'utf8')

let place: Place
beforeEach(() => {
  place = new Place('emulator')
  place.env = {
    PATH: process.env['PATH'],
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'init.defaultBranch',
    GIT_CONFIG_VALUE_0: 'default',
  }
})
afterEach(() => place.remove())

const has = (path: string) => existsSync(join(place.root, path))
const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: place.root, env: place.env, encoding: 'utf8' })
/** Makes the folder `repo` a repository on a branch. */
const createRepository = (branch: string) => git('init', '--quiet', '-b', branch, 'repo')
/** Parses the workflow that applies. */
const parseApply = (path: string) =>
  parse(place.read(path)) as {
    on: { push: { branches: string[]; paths?: string[] } }
    jobs: { plan: { steps: { env?: { BRANCH?: string }; with?: { workspace?: string } }[] } }
  }

/** Lists `env` of the steps of a workflow that have it. */
const envOfSteps = (path: string) =>
  Object.values((parse(place.read(path)) as { jobs: Record<string, { steps: Step[] }> }).jobs)
    .flatMap(({ steps }) => steps)
    .filter((step) => 'env' in step)
    .map(({ env }) => env)
const withSecrets = [
  'version: 1',
  'service: {url: "https://${env:REGION}.cdn.example.com", token: "${env:CDN_TOKEN}"}',
  'secrets:',
  '  signing: {env: SIGNING_KEY}',
  '  same: {env: SIGNING_KEY}',
  '  alike: {env: Signing_Key}',
  '  word: {env: "on"}',
  '  of_host: {env: GITHUB_KEY}',
  '  odd: {env: "bad\\nX: $${{ secrets.X }}"}',
  '  from_file: {file: "${env:HOME}/$${env:LITERAL}"}',
  '  from_program: {command: [pass, show, key]}',
  '',
].join('\n')

describe('init', () => {
  itLong('creates a workspace that is valid, formatted and can be planned', async () => {
    expect((await place.cli('init', 'cdn')).code).toBe(0)
    for (const args of [['validate'], ['fmt', '--check'], ['plan'], ['apply', '--yes']])
      expect([args, (await place.cli('-C', 'cdn', ...args)).code]).toEqual([args, 0])
    expect((await place.cli('-C', 'cdn', 'plan')).out).toContain('No changes.')
    for (const path of [
      'cdn/edgewise.yaml',
      'cdn/domains/www.example.com.yaml',
      'cdn/profiles/baseline.yaml',
    ]) {
      const schema = /^# yaml-language-server: \$schema=(\S+)/.exec(place.read(path))?.[1] ?? ''
      expect([path, has(join(path, '..', schema))]).toEqual([path, true])
    }
    expect(place.read('cdn/.gitignore')).toContain('.edgewise/')
  })

  itLong('writes one schema for editors, and shares that of a workspace around it', async () => {
    createRepository('main')
    const ran = await place.cli('init', 'repo', '--ci', 'none')
    expect(ran.out).toContain('wrote repo/edgewise.schema.json')
    expect(has('repo/schemas')).toBe(false)
    expect(place.read('repo/edgewise.schema.json').length).toBeLessThan(115_000)
    await place.cli('init', 'repo/other/cdn', '--ci', 'none')
    expect(has('repo/other/cdn/edgewise.schema.json')).toBe(false)
    const lines = ['edgewise.yaml', 'domains/www.example.com.yaml', 'profiles/baseline.yaml'].map(
      (path) => place.read(`repo/other/cdn/${path}`).split('\n')[0],
    )
    expect(lines).toEqual([
      '# yaml-language-server: $schema=../../edgewise.schema.json',
      '# yaml-language-server: $schema=../../../edgewise.schema.json',
      '# yaml-language-server: $schema=../../../edgewise.schema.json',
    ])
  })

  it('writes no workflow without a terminal, and prints the command for it', async () => {
    const { code, out } = await place.cli('init', 'cdn')
    expect([code, has('cdn/.github')]).toEqual([0, false])
    expect(out.split('\n\n').slice(1)).toEqual([
      'Next:\n  cd cdn\n  git init    # without it, state is stored in a folder\n' +
        '  edgewise validate\n  edgewise test\n  edgewise plan\n  edgewise apply',
      'To add a workflow: edgewise init --ci github --action OWNER/REPO@SHA\n',
    ])
    expect(out.split('\n').filter((line) => line.length > 80)).toEqual([])
  })

  it('--ci none writes no workflow, and prints nothing about it', async () => {
    const { code, out } = await place.cli('init', 'cdn', '--ci', 'none')
    expect([code, has('cdn/.github'), has('cdn/.gitlab-ci.yml')]).toEqual([0, false, false])
    expect(out).toMatch(/edgewise apply\n$/)
    expect(out).not.toContain('workflow')
  })

  it('replaces no file of a workspace', async () => {
    place.write('cdn/profiles/baseline.yaml', 'mine')
    const { code, err } = await place.cli('init', 'cdn', '--ci', 'github', '--action', action)
    expect([code, has('cdn/edgewise.yaml'), has('cdn/.github')]).toEqual([1, false, false])
    expect(err).toContain('profiles/baseline.yaml already exists; nothing was written')
    for (const more of [[], ['--ci', 'none']]) {
      const again = await place.cli('init', '.', ...more)
      expect(again).toMatchObject({ code: 1, out: '' })
      expect(again.err).toContain('edgewise.yaml already exists; nothing was written')
      expect(again.err).toContain('To add a workflow: edgewise init --ci github')
    }
  })
})

describe('the id of a new workspace', () => {
  itLong(
    'is another one than those of the repository, tracked or not, and init says why',
    async () => {
      createRepository('main')
      expect((await place.cli('init', 'repo/staging')).out).not.toContain('The id')
      const { code, out } = await place.cli('init', 'repo/infra/my cdn')
      expect(code).toBe(0)
      expect(out).toContain(
        'The id of this workspace is "my-cdn": "default" is that of staging/edgewise.yaml.\n',
      )
      const third = await place.cli('init', 'repo/my-cdn')
      expect(third.out).toContain('The id of this workspace is "my-cdn-2": ')
      const ids = ['staging', 'infra/my cdn', 'my-cdn'].map(
        (path) => (parse(place.read(`repo/${path}/edgewise.yaml`)) as { id: string }).id,
      )
      expect(ids).toEqual(['default', 'my-cdn', 'my-cdn-2'])
      expect((await place.cli('-C', 'repo/my-cdn', 'fmt', '--check')).code).toBe(0)
      expect((await place.cli('-C', 'repo/my-cdn', 'validate')).code).toBe(0)
    },
  )

  it('stays "default" where only another id is taken, and outside of a repository', async () => {
    createRepository('main')
    place.write('repo/prod/edgewise.yaml', 'version: 1\nid: prod\n')
    await place.cli('init', 'repo/other')
    await place.cli('init', 'here')
    await place.cli('init', 'there')
    for (const path of ['repo/other', 'here', 'there'])
      expect(place.read(`${path}/edgewise.yaml`)).toContain('id: default\n')
  })

  itLong('is not one whose recorded state the state branch has', async () => {
    createRepository('main')
    await place.cli('init', 'repo/gone')
    expect((await place.cli('-C', 'repo/gone', 'apply', '--yes')).code).toBe(0)
    rmSync(join(place.root, 'repo/gone'), { recursive: true })
    const { out } = await place.cli('init', 'repo/cdn')
    expect(out).toContain('is "cdn": "default" is that of recorded state.\n')
  })
})

describe('init --ci github', () => {
  it('writes the workflows of examples/github, with the action and the branch', async () => {
    createRepository('trunk')
    const ran = await place.cli(
      'init',
      'repo',
      '--ci',
      'github',
      '--action',
      action.toUpperCase().replace('TEAM/EDGEWISE', 'team/edgewise'),
    )
    expect(ran).toMatchObject({ code: 0, err: '' })
    expect(ran.out).toContain(workflows.map((path) => `wrote repo/${path}\n`).join(''))
    expect(ran.out).toContain(
      '\nPull requests are planned; what is merged to "trunk" is applied.\n' +
        'First follow the steps at the top of .github/workflows/edgewise-apply.yml.\n',
    )
    expect(ran.out).not.toContain('To add a workflow')
    expect(ran.out.split('\n').filter((line) => line.length > 80)).toEqual([])
    for (const path of workflows)
      expect(place.read(`repo/${path}`)).toBe(
        example(path.replace('.github/workflows', 'github'))
          .replaceAll('OWNER/REPO@SHA', action)
          .replace('      - main\n', '      - trunk\n')
          .replace('BRANCH: main\n', 'BRANCH: trunk\n'),
      )
  })

  it.each([
    ['main', 'main'],
    ['on', 'on'],
    ['release/1.0+beta', String.raw`release/1.0\+beta`],
    ['!urgent', String.raw`\!urgent`],
    [`it's-"日本"#1`, `it's-"日本"#1`],
  ])('applies what is merged to the branch %j', async (branch, filter) => {
    createRepository(branch)
    const { code } = await place.cli('init', 'repo', '--ci', 'github', '--action', action)
    const { on, jobs } = parseApply('repo/.github/workflows/edgewise-apply.yml')
    expect([code, on.push.branches, jobs.plan.steps[0]?.env]).toEqual([
      0,
      [filter],
      { BRANCH: branch },
    ])
  })

  it.each(['main\u202egnp', 'a\u200bb', 'x\u2066y\u2069', 'k\u3164', '\u{e0041}tag'])(
    'escapes what is invisible in the branch %j',
    async (branch) => {
      createRepository(branch)
      const { out } = await place.cli('init', 'repo', '--ci', 'github', '--action', action)
      const path = 'repo/.github/workflows/edgewise-apply.yml'
      const text = place.read(path)
      expect([escapeInvisibleInLines(text) === text, escapeInvisibleInLines(out) === out]).toEqual([
        true,
        true,
      ])
      const { on, jobs } = parseApply(path)
      expect([on.push.branches, jobs.plan.steps[0]?.env]).toEqual([[branch], { BRANCH: branch }])
      expect(out).toContain(`what is merged to "${escapeInvisible(branch)}" is applied`)
    },
  )

  it('refuses the path of a workspace with an invisible letter', async () => {
    createRepository('main')
    const { code, err } = await place.cli(
      'init',
      'repo/a\u3164',
      '--ci',
      'github',
      '--action',
      action,
    )
    expect([code, err.replace(/\s+/g, ' ')]).toEqual([
      1,
      expect.stringContaining('"a\\u{3164}", can'),
    ])
    expect(has('repo/a\u3164')).toBe(false)
  })

  it.each([
    ["a'b", "cd 'a'\\''b'"],
    ['a; b', "cd 'a; b'"],
    ['$(a)', "cd '$(a)'"],
  ])('prints the folder %j for a shell', async (folder, line) => {
    expect((await place.cli('init', folder)).out).toContain(`  ${line}\n`)
  })

  it('refuses a branch with an expression', async () => {
    createRepository('a-${{x}}')
    const { code, err } = await place.cli('init', 'repo', '--ci', 'github', '--action', action)
    expect([code, has('repo/edgewise.yaml')]).toEqual([1, false])
    expect(err).toContain(`the default branch, "a-\${{x}}", can't stand in a workflow`)
  })

  itLong(
    'prefers the branch of origin to the current one, outside of git the default',
    async () => {
      createRepository('feature')
      git('-C', 'repo', 'symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/release/2')
      const name = 'edgewise-apply.yml'
      for (const [folder, branch] of [
        ['repo', 'release/2'],
        ['alone', 'default'],
      ] as const) {
        await place.cli('init', folder, '--ci', 'github', '--action', action)
        const { on } = parseApply(`${folder}/.github/workflows/${name}`)
        expect([folder, on.push.branches]).toEqual([folder, [branch]])
      }
      place.env = { PATH: join(place.root, 'no-programs') }
      await place.cli('init', 'no-git', '--ci', 'github', '--action', action)
      const { on } = parseApply(`no-git/.github/workflows/${name}`)
      expect(on.push.branches).toEqual(['main'])
    },
  )

  itLong('writes the workflows of a subfolder to the top folder of the repository', async () => {
    createRepository('main')
    const args = ['--ci', 'github', '--action', action]
    const ran = await place.cli('-C', 'repo', 'init', 'apps/my cdn', ...args)
    const path = 'repo/.github/workflows/edgewise-apps-my-cdn-apply.yml'
    expect(ran).toMatchObject({
      code: 0,
      out: expect.stringContaining(`wrote ${path}\n`) as string,
    })
    expect(ran.out).toContain("\n  cd 'repo/apps/my cdn'\n")
    expect(has('repo/apps/my cdn/.github')).toBe(false)
    const { on, jobs } = parseApply(path)
    expect(on.push.paths).toEqual(['apps/my cdn/**', ...owners, path.replace('repo/', '')])
    expect(jobs.plan.steps.at(-2)?.with?.workspace).toBe('apps/my cdn')
    expect(place.read(path.replace('-apply', '-plan'))).toContain(
      `HEAD -- 'apps/my cdn' ${owners.join(' ')} .github/workflows/edgewise-apps-my-cdn-plan.yml;`,
    )
    // A second workspace gets workflows of its own.
    expect((await place.cli('init', 'repo/apps/b', ...args)).code).toBe(0)
    const odd = await place.cli('init', "repo/it's", ...args)
    expect([odd.code, has("repo/it's")]).toEqual([1, false])
    expect(odd.err).toContain(`"it's", can't stand in a workflow`)
  })

  it('adds workflows to an existing workspace, and replaces none', async () => {
    createRepository('main')
    const settings =
      'version: 1\nmanifests: ["sites/**/*.yaml", "!sites/old/**"]\nprofiles: [all.yaml]\n'
    place.write('repo/edgewise.yaml', settings)
    const added = await place.cli('-C', 'repo', 'init', '--action', action)
    expect(added).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        /^(wrote repo\/\.github\S+\n){4}\nPull [^\n]+\n[^\n]+\n$/,
      ) as string,
    })
    expect([place.read('repo/edgewise.yaml'), has('repo/domains')]).toEqual([settings, false])
    const path = `repo/${workflows[1]}`
    const again = await place.cli('init', 'repo', '--ci', 'github', '--action', `other/x@${commit}`)
    expect(again).toMatchObject({ code: 1, out: '' })
    expect(again.err).toContain(`${workflows.join(', ')} already exist; nothing was written`)
    expect(place.read(path)).toContain(action)
  })

  itLong(
    'gives secrets to the apply step only, and the variables of the service to all',
    async () => {
      createRepository('main')
      place.write('repo/edgewise.yaml', withSecrets)
      const { code, out } = await place.cli('init', 'repo', '--ci', 'github', '--action', action)
      expect(code).toBe(0)
      const common = { REGION: '${{ vars.REGION }}' }
      expect(envOfSteps(`repo/${workflows[1]}`)).toEqual([
        { BRANCH: 'main' },
        common,
        {
          ...common,
          CDN_TOKEN: '${{ secrets.CDN_TOKEN }}',
          SIGNING_KEY: '${{ secrets.SIGNING_KEY }}',
          on: '${{ secrets.on }}',
        },
      ])
      expect(envOfSteps(`repo/${workflows[0]}`)).toEqual([expect.any(Object), common, common])
      expect(envOfSteps(`repo/${workflows[2]}`)).toEqual([common])
      for (const path of [workflows[0], workflows[2]])
        expect(place.read(`repo/${path}`)).not.toContain('secrets.')
      const text = place.read(`repo/${workflows[1]}`)
      for (const name of ['CDN_TOKEN', 'SIGNING_KEY']) expect(text).toContain(`\n#    - ${name}\n`)
      expect(text).toMatch(/not as\n# +secrets, .*:\n#    - REGION\n/)
      for (const name of ['EDGEWISE_TOKEN', 'GITHUB_KEY', 'HOME', 'bad', 'LITERAL'])
        expect([name, text.includes(name)]).toEqual([name, false])
      expect(out.slice(out.indexOf('First follow'))).toBe(
        'First follow the steps at the top of .github/workflows/edgewise-apply.yml.\n' +
          'Not in the workflow: Signing_Key, GITHUB_KEY, bad\\nX: ${{ secrets.X }}.\n' +
          'These are no valid names of secrets in CI, or differ in case only.\n' +
          'Choose others in edgewise.yaml.\n' +
          'Secrets from a file or a command: from_file, from_program.\n' +
          'Make the file or the program available to the job that applies.\n',
      )
    },
  )

  it('keeps a variable of the service secret if it also has a secret, and says so', async () => {
    place.write(
      'edgewise.yaml',
      'version: 1\nservice: {url: "https://${env:A}/", token: "${env:A}"}\n',
    )
    const { code, out } = await place.cli('init', '--ci', 'github', '--action', action)
    expect([code, envOfSteps(workflows[0] ?? '')]).toEqual([0, [expect.any(Object)]])
    expect(out).toContain('Every job needs A, which has a secret. Use another variable for it.\n')
  })

  it('gives the address of the database to all steps, from secrets', async () => {
    const url = 'state: {store: postgres, url: "postgres://e:${env:PW}@${env:DB}/cdn"}\n'
    place.write('edgewise.yaml', `version: 1\nservice: {token: "\${env:DB}"}\n${url}`)
    const { out } = await place.cli('init', '--ci', 'github', '--action', action)
    const password = { PW: '${{ secrets.PW }}' }
    const [plan = '', apply = '', drift = ''] = workflows
    expect(envOfSteps(plan)).toEqual([expect.any(Object), password, password])
    expect(envOfSteps(drift)).toEqual([password])
    expect(envOfSteps(apply)).toEqual([
      expect.any(Object),
      password,
      { ...password, DB: '${{ secrets.DB }}' },
    ])
    expect(place.read(apply)).toMatch(/\n# 4\. Store these as secrets of .*\n.*\n.*\n#    - PW\n/)
    expect(out).toContain('Every job needs DB, which has a secret. Use another variable for it.\n')
  })

  it('gives the apply step no variable if edgewise.yaml refers to none', async () => {
    place.write('edgewise.yaml', 'version: 1\nservice: {token: "$${env:NAME}"}\n')
    expect((await place.cli('init', '--ci', 'github', '--action', action)).code).toBe(0)
    expect(envOfSteps(workflows[1] ?? '')).toEqual([{ BRANCH: 'default' }])
  })

  itLong('finds the workspace from a folder in it upwards, unless a folder is named', async () => {
    createRepository('main')
    place.write('repo/edgewise.yaml', 'version: 1\n').write('repo/domains/a.yaml', '')
    const args = ['--ci', 'github', '--action', action]
    const { code } = await place.cli('-C', 'repo/domains', 'init', ...args)
    expect([code, has(`repo/${workflows[0]}`), has('repo/domains/edgewise.yaml')]).toEqual([
      0,
      true,
      false,
    ])
    expect((await place.cli('-C', 'repo/domains', 'init', '.', ...args)).code).toBe(0)
    expect(has('repo/domains/edgewise.yaml')).toBe(true)
  })

  it('plans all changes: a commit may change the globs, also in a folder of its own', async () => {
    createRepository('main')
    place.write('repo/edgewise.yaml', 'version: 1\npolicies: [rules/**]\n')
    expect((await place.cli('-C', 'repo', 'init', '--action', action)).code).toBe(0)
    expect(parseApply(`repo/${workflows[1]}`).on.push.paths).toBeUndefined()
    expect(place.read(`repo/${workflows[0]}`)).toContain('HEAD -- .;')
  })

  it('reads the service for drift if the account can, with the token in a job alone', async () => {
    createRepository('main')
    const service = 'service: {readBack: true, token: "${env:CDN_TOKEN}"}\n'
    place.write('repo/edgewise.yaml', `version: 1\n${service}`)
    await place.cli('-C', 'repo', 'init', '--action', action)
    const [plan = '', apply = '', drift = ''] = workflows.map((path) => `repo/${path}`)
    const { jobs } = parse(place.read(drift)) as Workflow
    expect(jobs['drift']).toMatchObject({ environment: 'drift' })
    const step = jobs['drift']?.steps.find(({ id }) => id === 'drift')
    expect(step).toMatchObject({
      with: { command: 'drift', args: '--live' },
      env: { CDN_TOKEN: '${{ secrets.CDN_TOKEN }}' },
    })
    expect(place.read(plan)).not.toContain('secrets.')
    expect(place.read(apply)).toMatch(/# 4\. .* environment "drift".*\n.*\n#    - CDN_TOKEN\n/)
    await place.cli('-C', 'repo', 'init', '--action', image)
    const pipeline = place.read('repo/.gitlab-ci.yml')
    expect(parse(pipeline)).toMatchObject({
      'edgewise drift': {
        environment: { name: 'drift', action: 'access' },
        script: ['mkdir -p .edgewise', 'edgewise drift --live --report .edgewise/drift.md'],
      },
    })
    expect(pipeline).toMatch(/# 5\. .* environment "drift".*\n.*\n#    - CDN_TOKEN\n/)
  })
})

describe('init --ci gitlab', () => {
  it('writes the pipeline of examples/gitlab, with the image', async () => {
    createRepository('main')
    const { code, out } = await place.cli('init', 'repo', '--ci', 'gitlab', '--action', image)
    expect([code, out]).toEqual([0, expect.stringContaining('wrote repo/.gitlab-ci.yml\n')])
    expect(place.read('repo/.gitlab-ci.yml')).toBe(
      example('gitlab/.gitlab-ci.yml').replaceAll('IMAGE@sha256:DIGEST', image),
    )
  })

  it('names the variables of edgewise.yaml in the first lines', async () => {
    createRepository('main')
    place.write('repo/edgewise.yaml', withSecrets)
    const { code, out } = await place.cli('init', 'repo', '--ci', 'gitlab', '--action', image)
    const text = place.read('repo/.gitlab-ci.yml')
    const names = text.split('\n').flatMap((line) => /^#    - (\w+)$/.exec(line)?.[1] ?? [])
    expect([code, names]).toEqual([
      0,
      ['CDN_TOKEN', 'SIGNING_KEY', 'Signing_Key', 'on', 'GITHUB_KEY', 'REGION'],
    ])
    expect(text).toMatch(/variables of the project.*\n#.*:\n#    - REGION\n/)
    expect(out).toContain('Not in the workflow: bad')
    expect(text).not.toContain('bad')
    expect(text).not.toContain('HOME')
  })

  it('names the variables of the database in the first lines', async () => {
    createRepository('main')
    const state = 'state: {store: postgres, url: "${env:DATABASE_URL}"}\n'
    place.write('repo/edgewise.yaml', `${withSecrets}${state}`)
    await place.cli('init', 'repo', '--ci', 'gitlab', '--action', image)
    expect(place.read('repo/.gitlab-ci.yml')).toMatch(
      /\n# 6\. Store these as masked variables .*\n.*:\n#    - DATABASE_URL\n/,
    )
  })

  itLong('leaves an existing pipeline as it is, and prints what to include', async () => {
    createRepository('main')
    place.write('repo/.gitlab-ci.yml', 'mine: {script: [make]}\n')
    const { code, out } = await place.cli('init', 'repo/a/b', '--action', image)
    expect([code, place.read('repo/.gitlab-ci.yml')]).toEqual([0, 'mine: {script: [make]}\n'])
    expect(out).toContain('wrote repo/.gitlab/edgewise-a-b.yml\n')
    expect(out).toContain('  include:\n    - local: .gitlab/edgewise-a-b.yml\n')
    expect(place.read('repo/.gitlab/edgewise-a-b.yml')).toContain(
      'edgewise apply -C a/b a/b/.edgewise/plan.json',
    )
    const again = await place.cli('init', 'repo/a/b', '--action', image)
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('already exists')])
  })
})

describe('init refuses', () => {
  const forGithub = [
    '',
    'edgewise',
    'team/edgewise',
    'team/edgewise@',
    'team/edgewise@v1',
    'team/edgewise@main',
    'team/edgewise@0123456',
    `team/edgewise@${commit}0`,
    `team/edgewise@${commit.replace('0', 'g')}`,
    `edgewise@${commit}`,
    `/edgewise@${commit}`,
    `team/@${commit}`,
    `team/..@${commit}`,
    `-team/edgewise@${commit}`,
    `team/edge wise@${commit}`,
    `team/edgewise\n@${commit}`,
    `team/edgewise@${commit}\n`,
    `team/edgewise/x@${commit}`,
    `team/\${{x}}@${commit}`,
    `https://host.example/team/edgewise@${commit}`,
  ]
  const digest = `sha256:${'a'.repeat(64)}`
  const forGitlab = [
    action,
    'team/edgewise:1.2',
    `@${digest}`,
    `team/edgewise@${digest}0`,
    `team/edgewise@${digest.slice(0, -1)}`,
    `Team/edgewise@${digest}`,
    `team//edgewise@${digest}`,
    `team/edgewise:@${digest}`,
    `team/edge wise@${digest}`,
    `team/$IMAGE@${digest}`,
    `https://images.example.com/team/edgewise@${digest}`,
    `team/edgewise@${digest}\n`,
  ]
  it.each([
    ...forGithub.map((text) => [
      'github',
      text,
      'OWNER/REPO@SHA, where SHA is a commit',
      'A tag or a branch can be moved',
    ]),
    ...forGitlab.map((text) => [
      'gitlab',
      text,
      'IMAGE@sha256:DIGEST, where DIGEST has',
      'A tag can be moved',
    ]),
  ])('--ci %s --action %j with the reason, and writes nothing', async (...row) => {
    const [ci = '', given = '', expected, hint] = row
    const { code, out, err } = await place.cli('init', 'cdn', '--ci', ci, '--action', given)
    expect([code, out, has('cdn')]).toEqual([1, '', false])
    expect(err).toContain(`--action: expected ${expected}`)
    expect(err).toContain(hint)
    expect((await place.json('init', 'cdn', '--ci', ci, '--action', given))['code']).toBe('usage')
  })

  it.each([
    [['--ci', 'github'], '--ci github needs --action OWNER/REPO@SHA'],
    [['--ci', 'gitlab'], '--ci gitlab needs --action IMAGE@sha256:DIGEST'],
    [['--ci', 'none', '--action', action], '--ci none writes no workflow'],
    [['--ci', 'jenkins'], 'Allowed choices are github, gitlab, none'],
    [['--action', 'team/edgewise:1'], 'expected OWNER/REPO@SHA'],
    [['--action', 'Team@sha256:1'], 'expected IMAGE@sha256:DIGEST'],
  ])('%j', async (args, message) => {
    const { code, out, err } = await place.cli('init', 'cdn', ...args)
    expect([code, out, has('cdn')]).toEqual([1, '', false])
    expect(err).toContain(message)
  })
})

it('writes nothing through a link that a commit can bring', async () => {
  createRepository('main')
  const outside = mkdtempSync(join(tmpdir(), 'edgewise-init-'))
  symlinkSync(outside, join(place.root, 'repo', 'link'))
  place.cwd = 'repo'
  const { code, err } = await place.cli('init', 'link/workspace')
  expect([code, err]).toEqual([1, expect.stringContaining('is a symbolic link in the checkout')])
  expect(existsSync(join(outside, 'workspace'))).toBe(false)
  rmSync(outside, { recursive: true })
})
