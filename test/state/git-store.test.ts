import { openRecord, type OpenRecord } from '../../src/state/open-record.ts'
import { realDisk } from '../../src/state/real-disk.ts'
import { GitSandbox } from './git-sandbox.ts'
import { storeContract, type Kind } from './store-contract.ts'

const branch = 'edgewise-state'

async function inGit(remote: boolean): Promise<Kind> {
  const sandbox = new GitSandbox()
  if (remote) sandbox.withRemote()
  else sandbox.repository('clone')
  let processes = 0
  const openIn =
    (where: string) =>
    async (id = 'default', address = 'https://api.example.net', account = 'default'): Promise<OpenRecord> =>
      openRecord(
        { root: `${sandbox.folder}/${where}`, id, address, account, state: { store: 'git', branch, remote: 'origin', path: 'state' } },
        { disk: realDisk, process: `p${++processes}`, openGit: () => sandbox.open(where) },
      )
  const shared = remote ? 'remote.git' : 'clone'
  return {
    open: openIn('clone'),
    elsewhere: async () => {
      if (!remote) return openIn('clone')()
      const other = `other-${++processes}`
      sandbox.git('.', 'clone', '--quiet', 'remote.git', other)
      return openIn(other)()
    },
    damage: async (name, change) => {
      const clone = await sandbox.open('clone')
      const path = sandbox
        .git(shared, 'ls-tree', '-r', '--name-only', branch)
        .split('\n')
        .find((file) => file.endsWith(name) && !file.includes('/open/'))
      if (path === undefined) throw new Error(`expected a file ${name} on the branch`)
      const tip = sandbox.git(shared, 'rev-parse', branch)
      const text = (await clone.files(tip, path)).get(path) ?? ''
      const damaged = await clone.commit(tip, new Map([[path, change(text)]]), 'damage')
      await clone.move(`refs/heads/${branch}`, await clone.tip(`refs/heads/${branch}`), damaged)
      if (remote) await clone.push(`refs/heads/${branch}`, tip, damaged)
    },
    everything: async () => [
      sandbox.git('clone', 'for-each-ref', 'refs/heads'),
      sandbox.git(shared, 'for-each-ref'),
      sandbox.git('clone', 'status', '--porcelain'),
    ],
    remove: () => sandbox.remove(),
  }
}

storeContract('git without a remote', () => inGit(false))
storeContract('git with a remote', () => inGit(true))
