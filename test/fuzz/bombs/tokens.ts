import type { Chance } from '../../simulation/chance.ts'
import { list } from './bomb.ts'

/** Texts that a parser or a search could take more than once, separated by blanks. */
const visible =
  '[[: ${secret: ${secret:s} ${domain} ${var:v} ${var: ${ $${ ( ) (( (?: (?<a> [ ] [^ { } {{ {1, ' +
  "a{1} * ** + ? | \\ \\\\ ^ $ a aA 0 0x 9, - z-a -- # #[ ##[ :: , / // = == @ \" ' '' %41 % . " +
  'a. .. é 😀 \\n \\u0041 \\ud83d secret https:// < ` |- >- ~ bomb'
const blanks = [' ', ' #', '\t#', ': ', '&a ', '*a ', '!a ', 'token: ', '\u200b', '\u202e', '\n']
const tokens = [...visible.split(' '), ...blanks]

/** Draws a token, or some side by side. */
export function drawTokens(chance: Chance): string {
  return list(chance.between(1, 3), () => chance.pick(tokens))
}

/** Fields of items that take text of any kind: expressions, addresses, secrets, lists. */
export const fields: ((text: string) => string)[] = [
  (text) => `deny_url: {urls: [${text}]}`,
  (text) => `cache_rule: [{type: 4, pattern: ${text}, time: 0}]`,
  (text) => `cache_rule_list: [{match_method: regex, pattern: ${text}, expire: 0, priority: 1}]`,
  (text) => `head_control: {list: [{regex: ${text}, head_op: DEL, head: A, order: 1}]}`,
  (text) => `add_response_head: {list: [{name: X, value: ${text}}]}`,
  (text) => `add_response_head: {list: [{name: ${text}, value: a}]}`,
  (text) => `source_url_rewrite: [{origin_url: ${text}, rewrite_url: ${text}}]`,
  (text) => `referer: {type: 2, list: [${text}], allow_empty: false}`,
  (text) => `ip_black_list: {list: [${text}]}`,
  (text) => `user_agent: {ua_list: ${text}, ua_type: black, url_pattern: ${text}}`,
  (text) => `extend: {squid: ${text}}`,
  (text) => `origin: {default_master: ${text}, origin_mode: custom}`,
  (text) => `visit_timestamp: {key: ${text}, pattern: ${text}, style: ${text}}`,
  (text) => `error_page_rewrite: [{error_status_code: 404, redirect_url: ${text}}]`,
  (text) => `video_drag: {url: ${text}, mp4: on}`,
  (text) => `https: {cert_id: ${text}}`,
  (text) => `${text}: 1`,
]

/** Settings of `edgewise.yaml` that take text. */
export const settings: ((text: string) => string)[] = [
  (text) => `service: {url: ${text}}`,
  (text) => `service: {url: emulator, token: ${text}}`,
  (text) => `manifests: [${text}]`,
  (text) => `guards: {protect: [${text}]}`,
  (text) => `rollout: {first: [${text}]}`,
  (text) => `drift: {ignore: [{domain: ${text}, item: https, reason: ${text}}]}`,
  (text) => `secrets: {${text}: {env: A}}`,
  (text) => `secrets: {s: {file: ${text}}}`,
  (text) => `notify: [{kind: slack, url: ${text}}]`,
  (text) => `guards: {freeze: [{from: ${text}, to: ${text}}]}`,
  (text) => `${text}: 1`,
]

/** Other places of a text: whole manifests and profiles. */
export const documents: ((text: string) => string)[] = [
  (text) => `domain: ${text}\nconfig: {}\n`,
  (text) => `domain: www.example.com\nprofiles: [${text}]\n`,
  (text) => `domain: www.example.com\nvars: {v: ${text}}\nconfig: {}\n`,
  (text) => `domain: www.example.com\nvars: {${text}: v}\nconfig: {}\n`,
  (text) => `profile: ${text}\nconfig: {}\n`,
  (text) => `${text}: 1\n`,
]

/** Begins of structures that may be nested without end. */
export const nests: ((levels: number) => string)[] = [
  ...['[', '{', '[{', '{a: ', '[\n', '!a ', '&a '].map((each) => (n: number) => each.repeat(n)),
  ...['- ', '? ', '? - ', ': '].map((each) => (n: number) => `\n  ${each.repeat(n)}a`),
  (n) => '['.repeat(n) + ']'.repeat(n),
  (n) => `\n${list(Math.min(3000, n), (i) => `${' '.repeat(i + 2)}a:\n`)}`,
  (n) => `\n${list(Math.min(3000, n), (i) => `${' '.repeat(i + 2)}-\n`)}`,
  (n) => `"${'['.repeat(n)}"`,
  (n) => `|\n${'   [\n'.repeat(n)}`,
]
