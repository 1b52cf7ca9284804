import type { Json } from '../model/json.ts'

export type ReadingName = `R${number}`

/**
 * A question that the service's specification leaves open, or answers only by a word. The usual
 * answer holds unless the operator gives another one.
 */
export interface Reading {
  name: ReadingName
  question: string
  /** The answers by name, or what an answer is beside the usual one. */
  answers: readonly string[] | AnswerKind
  /** What most services of this kind do, or what the specification favours. */
  usual: string
  /** Whether the words of the specification favour the usual answer. */
  isFavoured: boolean
  /** What the usual answer means, as a clause. */
  meaning: string
}

/** A list of all ten checks, a status code, a number of seconds, or the name of a time zone. */
export type AnswerKind = 'checks' | 'status' | 'seconds' | 'zone'

/**
 * Name, question and answers of each reading, and below what the usual answer means. `*` marks the
 * usual answer that the specification favours, `~` another usual one, `<…>` a kind of answer.
 */
const table = `
R1 | How is a regular expression outside the common core read? | ~ecmascript core
  a regular expression is read as by JavaScript
R2 | In which form do patterns see path and query? | ~as-sent normalised decoded
  patterns see the URL as it was sent
R3 | Do cache rules see the URL as it was rewritten, or as it came? | rewrite-first ~cache-first
  cache rules see the URL before it is rewritten
R4 | Does a regular expression match somewhere in the text, or all of it? | ~search whole
  a regular expression matches any part
R5 | Which text does a regular expression for URLs see? | ~whole-url path-and-query path
  a regular expression sees the whole URL
R6 | Does letter case count where no field says so? | ~sensitive insensitive
  letter case counts where no field says so
R7 | Do suffixes and full paths see the query? | *path path-and-query
  patterns see the path alone
R8 | Does * in a directory or path match a slash? | ~any segment
  * in a path matches slashes, too
R9 | Where does a directory or path without a leading slash begin? | ~root never
  a path without a leading slash begins at the root
R10 | Does a directory without a trailing slash end with its segment? | ~segment prefix
  a directory ends with its segment
R11 | Does a directory contain what lies below its subdirectories? | *recursive direct
  a directory contains what lies below it at any depth
R12 | Does a suffix with a dot, like tar.gz, match? | ~last-dot ends-with
  a suffix is what follows the last dot
R13 | Does the URL of visit_timestamp's pattern have the port? | with-port ~without-port
  the pattern of signed URLs sees no port
R14 | Which of two entries of equal rank ranks higher? | ~first last
  of equal rank, the first entry counts
R15 | Which check answers if several deny? | <checks> ~listed
  checks answer in the order in which -v lists them
R16 | Does a denied request that would be redirected get the denial? | ~access-first redirect-first
  a denial comes before a redirect
R17 | Which status does a denied request get? | <status> ~403
  a denial has status 403
R18 | Does visit_deny_whitelist reach beyond the anti-leech items? | ~anti-leech every
  exemptions reach the anti-leech checks only
R19 | Does an entry of visit_deny_whitelist see the query? | exact ~path
  an exempt URL without a query exempts all queries
R20 | Is an absent header like an empty one? | *alike distinct
  an absent header is like an empty one
R21 | What is the host of a Referer without a scheme? | no-host ~host-first
  a Referer without a scheme begins with its host
R22 | Does ^ or $ alone on a text bind it to one end? | ~anchor literal
  ^ or $ alone binds a text to one end
R23 | Must all conditions of a ban hold, or one? | *all any
  all conditions of a ban must hold
R24 | Which value of a ban's case_insensitive ignores case? | ~labels name
  case_insensitive of a ban means what its label says
R25 | Which value of a user agent's case_insensitive ignores case? | *name inverted
  case_insensitive of a user agent means what its name says
R26 | Is a user agent's pattern a text, or a regular expression? | ~text regex
  a user agent's pattern is a text
R27 | Is an entry of deny_url a URL or an expression, or an expression alone? | ~either regex
  an entry of deny_url is a URL or an expression
R28 | Which requests upload? | ~post any
  only POST uploads
R29 | How many bytes has a KB? | ~1024 1000
  1 KB is 1024 bytes
R30 | Does client_real_ip send the origin the address, or read it? | ~to-origin from-client
  client_real_ip sends the address to the origin
R31 | In which time zone are windows and dates? | <zone> ~service
  times are in the zone of the service
R32 | What happens to a URL without a signature? | *deny pass
  a URL without a signature is denied
R33 | May the arguments of a signature stand in the other order? | ~strict loose
  the arguments of a signature stand in their order
R34 | Which text is signed, and how is the signature written? | ~plain
  key, path and time are signed as they stand
R35 | What is taken out of a signed URL? | ~key-and-time key-only
  key and time are taken out of a signed URL
R36 | Is a signature valid whose time is in the future? | ~valid invalid
  a signature of the future is valid
R37 | Do other items see a signed URL as it came? | *as-sent stripped
  other items see a signed URL as it came
R38 | Which counts if both lists of rules are set? | ~list-first rule-first list-only rule-only
  cache_rule_list ranks before cache_rule
R39 | Where do cache rules without a priority stand? | ~after before
  rules without a priority rank last
R40 | What happens to a request that no cache rule matches? | ~origin bypass
  without a cache rule the origin decides
R41 | How many seconds are cached by cache_or_not yes with expire 0? | <seconds> ~origin
  cached by the origin's time
R42 | How long is a response cached whose origin gives no time? | rule-time ~not-cached
  not cached without a time of the origin
R43 | Which headers of the origin forbid caching? | narrow ~wide
  private and max-age=0 forbid caching, too
R44 | Are responses cached whose status is not 2xx and not listed? | rule ~not-stored
  responses with another status than 2xx are not stored
R45 | Which counts if both items of error caching are set? | ~cache_error_code error_bcache
  cache_error_code counts before error_bcache
R46 | What does customer without one of its fields do? | ~do_nothing
  customer without one of its fields does nothing
R47 | Does a query operation apply to what is not cached? | applies ~idle
  what is not cached keeps its query
R48 | Do http and https share cached objects without cache_share? | *separate shared
  http and https are stored apart
R49 | Are responses to other methods than GET and HEAD cached? | cached ~not-stored
  only GET and HEAD are cached
R50 | What may extend change? | *origin anything nothing
  extend may change the origin only
R51 | Where does tos_origin stand among the origins? | tos-first tos-second ~tos-last
  tos_origin ranks after origin
R52 | Which origins does a carrier with own entries use? | own ~own-then-default level-first
  a carrier uses its own origins, then those of default
R53 | How are requests split among origins without weights? | *unweighted equal
  the split among origins is not known
R54 | Which group_sort is the main one? | ~lowest highest
  the lowest group_sort is the main one
R55 | Do the modes of tos_origin mean the same as those of origin? | *as-origin
  modes of tos_origin are those of origin
R56 | Which Host does host_mode default send? | ~domain origin_host
  host_mode default sends the domain
R57 | Does a header item that sets Host prevail over the origin's items? | ~header host
  a header item that sets Host prevails
R58 | Which of several rewriting rules applies? | ~first last chain
  the first rewriting rule that matches applies
R59 | Does a rewriting rule replace the whole, or what it matched? | ~replace substitute
  a rewriting rule replaces the whole
R60 | Are arguments dropped from a rewritten URL? | ~query-last rewrite-last
  arguments are dropped from a rewritten URL, too
R61 | Which order of head_control comes first? | ~ascending descending
  the lowest order of head_control comes first
R62 | What does ADD do if the header is there? | ~append replace keep
  ADD adds a value to a header that is there
R63 | What does ALT do if the header is not there? | add ~nothing
  ALT leaves an absent header absent
R64 | In which order do the header items act? | ~head-control-last head-control-first real-ip-last
  head_control acts last
R65 | What does add_response_head do if the origin sent the header? | *overwrite append keep
  add_response_head overwrites the origin's header
R66 | Do checks of access see headers changed by head_control? | before-access ~after-access
  checks see the headers that the client sent
R67 | Does caching see the origin's headers changed by head_control? | ~before-cache after-cache
  caching sees headers that head_control has changed
R68 | Which connect timeout counts if new_origin has one too? | ~new_origin connect_timeout
  the connect timeout of new_origin counts
R69 | Does error_page_rewrite apply to denied requests? | ~origin-only all
  error pages are for the origin's answers only
R70 | Do parameters of a content type count for compression? | ~strip literal
  parameters of a content type do not count
R71 | Must the client accept a compression? | ~negotiated always
  the client must accept a compression
R72 | Which counts if both items of compression are set? | ~smart both
  smart_compression alone counts
R73 | Which algorithm has compress_response? | ~gzip br
  compress_response compresses with gzip
R74 | Which algorithm is used if two fit? | ~br gzip
  br is used before gzip
R75 | Which of several speed limits holds? | ~first last lowest
  the first speed limit that holds counts
R76 | Does a speed limit hold in the minute of its end? | ~inside outside
  a speed limit holds in the minute of its end
R77 | Which arguments make a request seek in a video? | ~start either both
  the start argument alone makes a request seek
R78 | Does a redirect to https keep the port? | ~dropped kept
  a redirect drops the port
R79 | Does s-maxage of the origin count? | ~used ignored
  s-maxage of the origin counts
`

/** All readings, in the order of their numbers. */
export const readings: readonly Reading[] = table
  .trim()
  .split(/\n(?=R)/)
  .map(parseRow)

function parseRow(row: string): Reading {
  const [name = '', question = '', answers = '', meaning = ''] = row.split(/ \| |\n {2}/)
  const words = answers.split(' ')
  const kind = /^<(.*)>$/.exec(words[0] ?? '')?.[1]
  const usual = words.find((word) => /^[*~]/.test(word)) ?? ''
  return {
    name: name as ReadingName,
    question,
    answers:
      kind === undefined ? words.map((word) => word.replace(/^[*~]/, '')) : (kind as AnswerKind),
    usual: usual.slice(1),
    isFavoured: usual.startsWith('*'),
    meaning,
  }
}

/** The answers of all readings, and what holds for items that no manifest mentions. */
export interface Settings {
  /** Answers by the number of the reading. */
  answers: readonly Json[]
  /** What the operator has set: numbers of readings, and 0 for unmanaged items. */
  own: ReadonlySet<number>
  /** `unknown`; `absent` for all; or the items that stay unknown. */
  unmanaged: 'unknown' | 'absent' | readonly string[]
  isTakenAsAbsent(item: string): boolean
  /** Name of the service's time zone, for R31 `service`. */
  timezone: string
}
