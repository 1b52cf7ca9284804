import type { Outside } from '../runtime/parts.ts'

/** Returns the author of an apply: the user that the CI service names, otherwise the local user. */
export function findAuthor({ env, user }: Outside): string {
  return env['GITHUB_ACTOR'] ?? env['GITLAB_USER_LOGIN'] ?? user
}
