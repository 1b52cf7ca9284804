import type { Json } from '../model/json.ts'

/** Number n of the reading Rn. */
export type ReadingNumber = number
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
}

/** A list of all ten checks, a status code, a number of seconds, or the name of a time zone. */
export type AnswerKind = 'checks' | 'status' | 'seconds' | 'zone'

/**
 * Name, question and answers of each reading. `*` marks the usual answer that the specification
 * favours, `~` another usual one, `<…>` a kind of answer.
 */
const table = `
R1 | How is a regular expression outside the common core read? | ~ecmascript core
R2 | In which form do patterns see path and query? | ~as-sent normalised decoded
R3 | Do cache rules see the URL as it was rewritten, or as it came? | rewrite-first ~cache-first
R4 | Does a regular expression match somewhere in the text, or all of it? | ~search whole
R5 | Which text does a regular expression for URLs see? | ~whole-url path-and-query path
R6 | Does letter case count where no field says so? | ~sensitive insensitive
R7 | Do suffixes and full paths see the query? | *path path-and-query
R8 | Does * in a directory or path match a slash? | ~any segment
R9 | Where does a directory or path without a leading slash begin? | ~root never
R10 | Does a directory without a trailing slash end with its segment? | ~segment prefix
R11 | Does a directory contain what lies below its subdirectories? | *recursive direct
R12 | Does a suffix with a dot, like tar.gz, match? | ~last-dot ends-with
R13 | Does the URL of visit_timestamp's pattern have the port? | with-port ~without-port
R14 | Which of two entries of equal rank ranks higher? | ~first last
R15 | Which check answers if several deny? | <checks> ~listed
R16 | Does a denied request that would be redirected get the denial? | ~access-first redirect-first
R17 | Which status does a denied request get? | <status> ~403
R18 | Does visit_deny_whitelist reach beyond the anti-leech items? | ~anti-leech every
R19 | Does an entry of visit_deny_whitelist see the query? | exact ~path
R20 | Is an absent header like an empty one? | *alike distinct
R21 | What is the host of a Referer without a scheme? | no-host ~host-first
R22 | Does ^ or $ alone on a text bind it to one end? | ~anchor literal
R23 | Must all conditions of a ban hold, or one? | *all any
R24 | Which value of a ban's case_insensitive ignores case? | ~labels name
R25 | Which value of a user agent's case_insensitive ignores case? | *name inverted
R26 | Is a user agent's pattern a text, or a regular expression? | ~text regex
R27 | Is an entry of deny_url a URL or an expression, or an expression alone? | ~either regex
R28 | Which requests upload? | ~post any
R29 | How many bytes has a KB? | ~1024 1000
R30 | Does client_real_ip send the origin the address, or read it? | ~to-origin from-client
R31 | In which time zone are windows and dates? | <zone> ~service
R32 | What happens to a URL without a signature? | *deny pass
R33 | May the arguments of a signature stand in the other order? | ~strict loose
R34 | Which text is signed, and how is the signature written? | ~plain
R35 | What is taken out of a signed URL? | ~key-and-time key-only
R36 | Is a signature valid whose time is in the future? | ~valid invalid
R37 | Do other items see a signed URL as it came? | *as-sent stripped
R38 | Which counts if both lists of rules are set? | ~list-first rule-first list-only rule-only
R39 | Where do cache rules without a priority stand? | ~after before
R40 | What happens to a request that no cache rule matches? | ~origin bypass
R41 | How many seconds are cached by cache_or_not yes with expire 0? | <seconds> ~origin
R42 | How long is a response cached whose origin gives no time? | rule-time ~not-cached
R43 | Which headers of the origin forbid caching? | narrow ~wide
R44 | Are responses cached whose status is not 2xx and not listed? | rule ~not-stored
R45 | Which counts if both items of error caching are set? | ~cache_error_code error_bcache
R46 | What does customer without one of its fields do? | ~do_nothing
R47 | Does a query operation apply to what is not cached? | applies ~idle
R48 | Do http and https share cached objects without cache_share? | *separate shared
R49 | Are responses to other methods than GET and HEAD cached? | cached ~not-stored
R50 | What may extend change? | *origin anything nothing
R51 | Where does tos_origin stand among the origins? | tos-first tos-second ~tos-last
R52 | Which origins does a carrier with own entries use? | own ~own-then-default level-first
R53 | How are requests split among origins without weights? | *unweighted equal
R54 | Which group_sort is the main one? | ~lowest highest
R55 | Do the modes of tos_origin mean the same as those of origin? | *as-origin
R56 | Which Host does host_mode default send? | ~domain origin_host
R57 | Does a header item that sets Host prevail over the origin's items? | ~header host
R58 | Which of several rewriting rules applies? | ~first last chain
R59 | Does a rewriting rule replace the whole, or what it matched? | ~replace substitute
R60 | Are arguments dropped from a rewritten URL? | ~query-last rewrite-last
R61 | Which order of head_control comes first? | ~ascending descending
R62 | What does ADD do if the header is there? | ~append replace keep
R63 | What does ALT do if the header is not there? | add ~nothing
R64 | In which order do the header items act? | ~head-control-last head-control-first real-ip-last
R65 | What does add_response_head do if the origin sent the header? | *overwrite append keep
R66 | Do checks of access see headers changed by head_control? | before-access ~after-access
R67 | Does caching see the origin's headers changed by head_control? | ~before-cache after-cache
R68 | Which connect timeout counts if new_origin has one too? | ~new_origin connect_timeout
R69 | Does error_page_rewrite apply to denied requests? | ~origin-only all
R70 | Do parameters of a content type count for compression? | ~strip literal
R71 | Must the client accept a compression? | ~negotiated always
R72 | Which counts if both items of compression are set? | ~smart both
R73 | Which algorithm has compress_response? | ~gzip br
R74 | Which algorithm is used if two fit? | ~br gzip
R75 | Which of several speed limits holds? | ~first last lowest
R76 | Does a speed limit hold in the minute of its end? | ~inside outside
R77 | Which arguments make a request seek in a video? | ~start either both
R78 | Does a redirect to https keep the port? | ~dropped kept
R79 | Does s-maxage of the origin count? | ~used ignored
`

/** All readings, in the order of their numbers. */
export const readings: readonly Reading[] = table.trim().split('\n').map(parseRow)

function parseRow(row: string): Reading {
  const [name = '', question = '', answers = ''] = row.split(' | ')
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
