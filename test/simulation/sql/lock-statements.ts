import type { Row } from '../../../src/state/postgres/database.ts'
import type { Transaction } from './engine.ts'
import type { Statement } from './statement.ts'

const table = 'locks'

/** The condition of two scopes with a domain in common, as in the statements. */
const buildOverlap = (workspace: string, domains: string) =>
  `(other.workspace is null or ${workspace} is null or (other.workspace = ${workspace}
    and (other.domains is null or ${domains} is null
      or exists (select unnest(other.domains) intersect select unnest(${domains})))))`

/** What the statements of src/state/postgres/lock-statements.ts do. */
export const lockStatements: Record<string, Statement> = {
  'select pg_advisory_xact_lock(hashtextextended($1, 0))': async (transaction, [text]) => {
    await transaction.lock(`advisory text ${String(text)}`, 'exclusive')
    return [{}]
  },
  [`select version, text from locks as other
    where account = $1 and held and ${buildOverlap('$2::text', '$3::text[]')} order by ticket`]: (
    transaction,
    [account, workspace, domains],
  ) =>
    find(
      transaction,
      (row) =>
        row['account'] === account && row['held'] === true && overlap(row, { workspace, domains }),
    ).map(([, { version, text }]) => ({ version, text })),
  'select version, text from locks where token = $1 for share': async (transaction, [token]) => {
    const row = await transaction.lockRow(table, String(token), 'share')
    return row === undefined ? [] : [{ version: row['version'], text: row['text'] }]
  },
  'select domains from locks where token = $1': (transaction, [token]) => {
    const row = transaction.get(table, String(token))
    return row === undefined ? [] : [{ domains: row['domains'] }]
  },
  'select text from locks where token = $1 for update': async (transaction, [token]) => {
    const row = await transaction.lockRow(table, String(token), 'exclusive')
    return row === undefined ? [] : [{ text: row['text'] }]
  },
  [`update locks set version = $2, text = $3, change = $4
    where token = $1 and (version = $2 - 1 or change = $4) returning version`]: async (
    transaction,
    [token, version, text, change],
  ) => {
    const isMeant = (row: Row) =>
      row['version'] === String(Number(version) - 1) || row['change'] === change
    return update(transaction, token, isMeant, { version: String(version), text, change })
  },
  [`update locks set version = version + 1, seen_at = clock_timestamp()
    where token = $1 returning version`]: async (transaction, [token]) =>
    update(
      transaction,
      token,
      () => true,
      (row) => ({
        version: String(Number(row['version']) + 1),
        seen_at: transaction.engine.now(),
      }),
    ),
  'update locks set version = version + 1, text = $2 where token = $1': async (
    transaction,
    [token, text],
  ) => {
    const change = (row: Row) => ({ version: String(Number(row['version']) + 1), text })
    await update(transaction, token, () => true, change)
    return []
  },
  'update locks set held = true where token = $1': async (transaction, [token]) => {
    await update(transaction, token, () => true, { held: true })
    return []
  },
  [`insert into locks (account, workspace, domains, token, text)
    values ($1, $2, $3, $4, $5) returning version`]: async (
    transaction,
    [account, workspace, domains, token, text],
  ) => {
    const { engine } = transaction
    await transaction.insert(table, String(token), {
      ticket: engine.drawNumber(table),
      account,
      workspace,
      domains,
      token,
      text,
      held: false,
      seen_at: engine.now(),
      version: '1',
      change: null,
    })
    return [{ version: '1' }]
  },
  [`select other.token, other.version, other.text, other.held
    from locks as own join locks as other on other.account = own.account
      and other.token <> own.token and (other.held or other.ticket < own.ticket)
    where own.token = $1 and ${buildOverlap('own.workspace', 'own.domains')}
    order by other.ticket`]: (transaction, [token]) => {
    const own = transaction.get(table, String(token))
    if (own === undefined) return []
    return find(
      transaction,
      (row) =>
        row['account'] === own['account'] &&
        row['token'] !== token &&
        (row['held'] === true || Number(row['ticket']) < Number(own['ticket'])) &&
        overlap(row, own),
    ).map(([key, row]) => ({
      token: key,
      version: row['version'],
      text: row['text'],
      held: row['held'],
    }))
  },
  'delete from locks where token = any($1)': (transaction, [tokens]) =>
    remove(transaction, tokens as unknown[]),
  [`delete from locks where account = $1 and not held
    and seen_at < clock_timestamp() - interval '15 s'`]: (transaction, [account]) => {
    const isOld = (row: Row) => Number(row['seen_at']) < transaction.engine.now() - 15_000
    const isMeant = (row: Row) => row['account'] === account && row['held'] === false && isOld(row)
    return remove(
      transaction,
      find(transaction, isMeant).map(([token]) => token),
      isMeant,
    )
  },
  [`delete from locks as other using unnest($1::text[], $2::bigint[]) as ended (token, version)
    where other.token = ended.token and other.version = ended.version
    returning other.token`]: async (transaction, [tokens, versions]) => {
    const removed: Row[] = []
    for (const [i, token] of (tokens as string[]).entries()) {
      const isMeant = (row: Row) => row['version'] === (versions as string[])[i]
      const row = await transaction.lockRow(table, token, 'exclusive', isMeant)
      if (row === undefined) continue
      transaction.put(table, token, null)
      removed.push({ token })
    }
    return removed
  },
}

/** Finds rows by their tokens, in the order of their tickets. */
function find(transaction: Transaction, isMeant: (row: Row) => boolean): [string, Row][] {
  return transaction
    .rows(table, (_token, row) => isMeant(row))
    .toSorted(([, a], [, b]) => Number(a['ticket']) - Number(b['ticket']))
}

function overlap(one: Row, two: Row): boolean {
  if (one['workspace'] === null || two['workspace'] === null) return true
  if (one['workspace'] !== two['workspace']) return false
  const [a, b] = [one['domains'] as string[] | null, two['domains'] as string[] | null]
  return a === null || b === null || a.some((domain) => b.includes(domain))
}

async function update(
  transaction: Transaction,
  token: unknown,
  isMeant: (row: Row) => boolean,
  change: Row | ((row: Row) => Row),
): Promise<Row[]> {
  const row = await transaction.lockRow(table, String(token), 'exclusive', isMeant)
  if (row === undefined) return []
  const changed = { ...row, ...(typeof change === 'function' ? change(row) : change) }
  transaction.put(table, String(token), changed)
  return [{ version: changed['version'] }]
}

async function remove(
  transaction: Transaction,
  tokens: unknown[],
  isMeant?: (row: Row) => boolean,
): Promise<Row[]> {
  for (const token of tokens)
    if ((await transaction.lockRow(table, String(token), 'exclusive', isMeant)) !== undefined)
      transaction.put(table, String(token), null)
  return []
}
