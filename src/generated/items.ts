// Made by `npm run generate` from schemas/items. Do not edit.

/**
 * Headers the CDN adds to its requests to the origin, at most 20. The array is the complete set and replaces the stored one; an empty array removes all of them.
 * 
 * @maxItems 20
 * 
 * Items: One header for origin requests.
 */
export type AddBackSourceHead = {
/**
 * Name of the header, made of the characters HTTP allows in header names (no blanks, no colon). Always required.
 */
head_name: string
/**
 * Value of the header; it may be empty and must contain no line breaks or NUL characters. Always required.
 */
head_value: string
/**
 * Treatment of a header of this name that the request already has: yes overwrites it, no leaves it as it is. When left out, yes applies.
 */
write_when_exists?: ("yes" | "no")
}[]

/**
 * Headers the CDN puts on its responses to clients. With type reset the list is the complete set, so an empty list removes every added header.
 */
export interface AddResponseHead {
/**
 * Operation on the list: reset makes it the complete set of added headers, add merges it into the stored headers and overwrites those with the same name, remove deletes the named headers. add and remove are actions and not desired state, so a manifest can only use reset. When left out, reset applies.
 */
type?: ("reset" | "add" | "remove")
/**
 * The headers, in the shape that type demands. Always required; it may be empty only with type reset.
 * 
 * Items: One header: an object with name and value for reset and add, just the header name for remove. The two shapes cannot be mixed.
 */
list: ({
/**
 * Name of the header, made of the characters HTTP allows in header names (no blanks, no colon). Always required.
 */
name: string
/**
 * Value of the header; it may be empty and must contain no line breaks or NUL characters. Always required.
 */
value: string
} | string)[]
}

/**
 * Caches error responses with the given status codes for a fixed time, or switches that caching off.
 */
export interface CacheErrorCode {
/**
 * Status codes the setting applies to; at least one. Order and repetition have no meaning.
 * 
 * @minItems 1
 * 
 * Items: One status code as a string, or 5XX (capitals) for the codes that begin with 5.
 */
code: ("400" | "403" | "404" | "414" | "500" | "501" | "502" | "503" | "504" | "506" | "5XX")[]
/**
 * on caches responses with these codes; off does not. With on, cache_time and cache_unit are required.
 */
bcache: ("on" | "off")
/**
 * Cache time, 1 to 65535, counted in cache_unit. Required when bcache is on. When bcache is off it may be left out and has no effect, but a given value must still be in the range.
 */
cache_time?: number
/**
 * Unit of cache_time, spelled out. Required when bcache is on; without effect when it is off.
 */
cache_unit?: ("year" | "month" | "day" | "hour" | "minute" | "second")
}

/**
 * How long the CDN caches content, in the older rule form; cache_rule_list is the newer one. The array is the whole set of rules and replaces the stored one; a rule takes precedence over those after it. An empty array removes all rules.
 * 
 * Items: One cache rule.
 */
export type CacheRule = {
/**
 * Kind of the pattern: 1 file suffixes, 2 directories, 3 full paths, 4 one regular expression. Always required.
 */
type: (1 | 2 | 3 | 4)
/**
 * Content that the rule applies to: suffixes (jpg,png), directories (/static/) or full paths (/index.html, where * matches any characters), separated by commas without empty parts. With type 4 it is one regular expression for the whole request URL (scheme, domain, port if there is one, path and arguments), and commas belong to it. Always required.
 */
pattern: string
/**
 * Cache time, counted in timeunit. 0 switches caching off for the pattern; the longest time is 2 years, where a year is 365 days and 24 months are 2 years. Always required.
 */
time: number
/**
 * Unit of time, case-sensitive: Y year, M month, D day, h hour, i minute, s second. When left out, seconds apply.
 */
timeunit?: ("Y" | "M" | "D" | "h" | "i" | "s")
/**
 * on caches even when the origin's headers forbid it; off obeys them. It has an effect only when time is above 0. When left out, off applies.
 */
ignore_no_cache?: ("on" | "off")
/**
 * on disregards the expiry given by the origin; off takes it into account. It has an effect only when time is above 0. When left out, on applies.
 */
ignore_expired?: ("on" | "off")
/**
 * on drops the query arguments both from the cache key and from origin requests; off keeps them. It has an effect only when time is above 0. When left out, off applies.
 */
ignore_query?: ("on" | "off")
}[]

/**
 * How long the CDN caches content, in the newer rule form; cache_rule is the older one. The array is the whole set of rules and replaces the stored one; an empty array removes all rules. Precedence is set by the priority of each rule.
 * 
 * Items: One cache rule.
 */
export type CacheRuleList = {
/**
 * Kind of the pattern: ext file suffixes, dir directories, route full paths, regex one regular expression. Always required.
 */
match_method: ("ext" | "dir" | "route" | "regex")
/**
 * Content that the rule applies to: suffixes, directories or full paths as match_method says, separated by commas without empty parts. With regex it is one regular expression, and commas belong to it. Always required.
 */
pattern: string
/**
 * yes compares pattern without regard to letter case, no is case-sensitive. When left out, yes applies.
 */
case_ignore?: ("yes" | "no")
/**
 * Cache time, counted in expire_unit. 0 switches caching off for the pattern; the longest time is 2 years, where a year is 365 days and 24 months are 2 years. Always required, although cache_or_not can override whether anything is cached.
 */
expire: number
/**
 * Unit of expire, case-sensitive: Y year, M month, D day, h hour, i minute, s second. When left out, seconds apply.
 */
expire_unit?: ("Y" | "M" | "D" | "h" | "i" | "s")
/**
 * yes caches even when the origin's response headers forbid it, no obeys them. When left out, no applies.
 */
ignore_no_cache_headers?: ("no" | "yes")
/**
 * yes uses the cache time given by the origin, no uses the one of this rule. When left out, no applies.
 */
follow_expired?: ("no" | "yes")
/**
 * Treatment of query arguments: do_nothing keeps them, cache_back_source_remove drops them from the cache key and from origin requests, customer follows query_params_op_way, query_params_op_when and params. When left out, do_nothing applies.
 */
query_params_op?: ("do_nothing" | "cache_back_source_remove" | "customer")
/**
 * Rank of the rule; the lower the number, the higher the precedence. No two rules may have the same number. When left out the rule has no explicit rank.
 */
priority?: number
/**
 * yes caches the matching content, no does not; where it contradicts expire, this field prevails. When left out, expire alone decides.
 */
cache_or_not?: ("yes" | "no")
/**
 * Whether the arguments named in params are the only ones kept (keep) or the ones dropped (remove). Allowed only when query_params_op is customer, and should then be given with query_params_op_when and params; there is no default.
 */
query_params_op_way?: ("keep" | "remove")
/**
 * Where the argument handling applies: cache for the cache key only, cache_back_source for the cache key and origin requests. Allowed only when query_params_op is customer, and should then be given with query_params_op_way and params; there is no default.
 */
query_params_op_when?: ("cache" | "cache_back_source")
/**
 * Names of the query arguments to keep or remove, separated by commas. Allowed only when query_params_op is customer, and should then be given with query_params_op_way and query_params_op_when; when left out no argument is named.
 */
params?: string
}[]

/**
 * Lets http and https, or different domains, use the same cached objects.
 */
export interface CacheShare {
/**
 * Scope of the shared cache. inner_share: http and https of this domain use one cache. cross_single_share: shared with the domain in domain, http and https separately. cross_all_share: shared with that domain, http and https together.
 */
share_way: ("inner_share" | "cross_single_share" | "cross_all_share")
/**
 * The one domain to share the cache with, not an IP and not a list. Required with cross_single_share and cross_all_share; has no effect with inner_share, where it may be left out.
 */
domain?: string
}

/**
 * Names the header that carries the client's real IP.
 */
export interface ClientRealIp {
/**
 * Name of that header. Only characters allowed in an HTTP header name: no blanks, no colon.
 */
head: string
}

/**
 * Blocks requests by method, IP, referer, URL and user agent, alone or together. Rules stand in order of priority, highest first; a write replaces the whole list, and an empty list clears it.
 * 
 * Items: One ban rule.
 */
export type CombinedBan = {
/**
 * Treatment of matching requests; ban is the only value. ban when left out.
 */
action?: "ban"
/**
 * The conditions of the rule, each kind at most once. At least one is needed: an empty object is rejected.
 */
configs: {
/**
 * Condition on the request method. When left out, the method does not matter.
 */
method?: {
/**
 * The request method, get or post, in small letters. Must be given.
 */
method_type: ("get" | "post")
/**
 * yes applies the rule to requests that match, no to all that do not. yes when left out.
 */
is_match?: ("yes" | "no")
}
/**
 * Condition on the client's IP. When left out, the address does not matter.
 */
ip?: {
/**
 * Client addresses: single IPs and /8, /16 or /24 networks; at least one. The networks of one list must not overlap. Order has no meaning.
 * 
 * @minItems 1
 * 
 * Items: One IP, or an IPv4 network ending in /8, /16 or /24.
 */
list: string[]
/**
 * yes applies the rule to requests that match, no to all that do not. yes when left out.
 */
is_match?: ("yes" | "no")
}
/**
 * Condition on the Referer header. When left out, the referer does not matter.
 */
referer?: {
/**
 * Referers; at least one. An entry matches anywhere in the referer and ignores letter case. Order has no meaning.
 * 
 * @minItems 1
 * 
 * Items: Text to look for in the referer; ^ at the start and $ at the end make it an exact match.
 */
list: string[]
/**
 * yes applies the rule to requests that match, no to all that do not. yes when left out.
 */
is_match?: ("yes" | "no")
}
/**
 * Condition on the URL. When left out, the URL does not matter.
 */
url?: {
/**
 * Regular expressions for the URL; at least one. An entry matches anywhere in the URL unless anchored. Order has no meaning.
 * 
 * @minItems 1
 * 
 * Items: Regular expression for the URL; ^ at the start and $ at the end make it an exact match.
 */
list: string[]
/**
 * yes applies the rule to requests that match, no to all that do not. yes when left out.
 */
is_match?: ("yes" | "no")
/**
 * Whether letter case counts. The values mean the opposite of the field's name: yes distinguishes upper and lower case, no does not. yes when left out.
 */
case_insensitive?: ("yes" | "no")
}
/**
 * Condition on the User-Agent header. When left out, the user agent does not matter.
 */
ua?: {
/**
 * User agents as plain text; at least one. An entry matches anywhere in the User-Agent header unless anchored. Order has no meaning.
 * 
 * @minItems 1
 * 
 * Items: Text to look for in the user agent; ^ at the start and $ at the end make it an exact match.
 */
list: string[]
/**
 * yes applies the rule to requests that match, no to all that do not. yes when left out.
 */
is_match?: ("yes" | "no")
/**
 * Whether letter case counts. The values mean the opposite of the field's name: yes distinguishes upper and lower case, no does not. yes when left out.
 */
case_insensitive?: ("yes" | "no")
}
}
}[]

/**
 * Compression of responses by content type, for files from a given size upwards.
 */
export interface CompressResponse {
/**
 * Content types that are compressed, at least one, in any order. Always required; other types are delivered uncompressed.
 * 
 * @minItems 1
 * 
 * Items: One content type, for example text/html.
 */
content_type: string[]
/**
 * Smallest file size that is compressed, counted in min_size_unit; 0 sets no lower limit. Always required.
 */
min_size: number
/**
 * Unit of min_size, in capitals: KB or MB. Always required.
 */
min_size_unit: ("KB" | "MB")
}

/**
 * Sets how long to wait for a connection to the origin.
 */
export interface ConnectTimeout {
/**
 * Time limit for connecting to the origin in whole seconds, 5 to 60, written as a string of decimal digits without leading zeros.
 */
origin_connect_timeout: string
}

/**
 * Refuses requests that use one protocol, HTTP or HTTPS. The specification leaves out the wire name of this item, so the workspace's service.itemKeys must name it before the item can be sent.
 */
export interface DenyProtocol {
/**
 * Protocol whose requests are refused: http or https. Only one can be named. Always required.
 */
protocol: ("http" | "https")
}

/**
 * Blocks requests for the listed URLs.
 */
export interface DenyUrl {
/**
 * The blocked URLs; at least one. Plain URLs and regular expressions may be mixed. Order and repetition have no meaning.
 * 
 * @minItems 1
 * 
 * Items: One URL to block, or a regular expression. Text that is no valid regular expression is read as a plain URL.
 */
urls: string[]
}

/**
 * Caching of error responses by status code, switched by bcache; cache_error_code is a separate, similar item with its own spelling (5XX) and an integer time. The specification leaves out the wire name of this item, so the workspace's service.itemKeys must name it before the item can be sent.
 */
export interface ErrorBcache {
/**
 * on caches responses with the listed codes, off does not. With on, cache_time and cache_unit are required. Always required.
 */
bcache: ("on" | "off")
/**
 * Status codes the item applies to, at least one, in any order. Always required, with bcache off as well.
 * 
 * @minItems 1
 * 
 * Items: One status code as a string; 5xx (in lower case) stands for 500, 501, 502, 503, 504 and 506 together.
 */
code: ("400" | "403" | "404" | "414" | "500" | "501" | "502" | "503" | "504" | "506" | "5xx")[]
/**
 * Cache time as a decimal number of cache_unit, at least 1 and at most 2 years (a year is 365 days, 24 months are 2 years). Required when bcache is on; with off it may be left out and has no effect, though its value must still be valid.
 */
cache_time?: string
/**
 * Unit of cache_time. Required when bcache is on; with off it may be left out and has no effect.
 */
cache_unit?: ("year" | "month" | "day" | "hour" | "minute" | "second")
}

/**
 * Answers chosen error statuses with a redirect to another page. A write replaces the whole list, and an empty list clears it.
 * 
 * Items: One rule: an error status and the redirect that replaces it.
 */
export type ErrorPageRewrite = {
/**
 * The error status that triggers the redirect, 400 to 599; one code for each rule. A desired state must not give two different targets for one code.
 */
error_status_code: number
/**
 * Status of the redirect sent to the client: 301 (permanent) or 302 (temporary).
 */
redirect_status_code: (301 | 302)
/**
 * Target of the redirect: a full, valid URL that begins with http:// or https://.
 */
redirect_url: string
}[]

/**
 * Extension configuration in the text form of the edge servers, for settings that no other item covers. It takes precedence over new_origin.
 */
export interface Extend {
/**
 * The extension text, one directive a line, with lines separated by CR LF; bare line feeds are turned into CR LF. Always required; an empty text clears the extension.
 */
squid: string
}

/**
 * Makes the CDN follow redirects that the origin answers with, instead of passing them to the client.
 */
export interface ForwardStatus {
/**
 * Redirect status codes to follow: 301, 302 or both; at least one. Order and repetition have no meaning.
 * 
 * @minItems 1
 * 
 * Items: One redirect status code, 301 or 302.
 */
codes: (301 | 302)[]
}

/**
 * Adds, deletes or changes HTTP headers for URLs that match a regular expression, in one of four directions: client request, client response, origin request, origin response.
 */
export interface HeadControl {
/**
 * The header rules. An empty list clears them.
 * 
 * Items: One header rule.
 */
list: {
/**
 * Regular expression that selects the URLs this rule applies to; .* selects all.
 */
regex: string
/**
 * Operation: ADD adds the header, DEL deletes it, ALT changes its value. Capitals only.
 */
head_op: ("ADD" | "DEL" | "ALT")
/**
 * Message the rule acts on: CLI_REQ the client's request, CLI_REP the response to the client, SER_REQ the request to the origin, SER_REP the origin's response.
 */
head_direction: ("CLI_REQ" | "CLI_REP" | "SER_REQ" | "SER_REP")
/**
 * Name of the header. Only characters allowed in an HTTP header name: no blanks, no colon.
 */
head: string
/**
 * Value of the header, without line breaks. Required and not empty with ADD and ALT; ignored with DEL, where it may be left out or empty.
 */
value?: string
/**
 * Priority of the rule, any integer. The service does not say whether the lower or the higher number goes first; equal numbers are accepted.
 */
order: number
}[]
}

/**
 * HTTPS for the domain: the certificate, redirects from HTTP, HTTP/2, OCSP stapling and the TLS versions. Setting cert_id to 0 unbinds the certificate and returns the domain to plain HTTP.
 */
export interface Https {
/**
 * Number of the certificate to bind, as the certificate service reports it. 0 unbinds the certificate; the other fields then have no effect. Always required.
 */
cert_id: number
/**
 * Whether clients may use HTTP/2. When left out, the setting stays as it is.
 */
http2?: ("on" | "off")
/**
 * Redirect from HTTP to HTTPS: 0 none, 301 permanent redirect, 302 temporary redirect. A redirect has no effect when cert_id is 0. When left out, 0 applies.
 */
force_https?: (0 | 301 | 302)
/**
 * Whether the CDN delivers the certificate's OCSP status (stapling). When left out, the setting stays as it is.
 */
ocsp?: ("on" | "off")
/**
 * TLS versions that clients may use, at least one, in any order. When left out, no selection is sent and the service decides which versions are offered.
 * 
 * @minItems 1
 * 
 * Items: One TLS version.
 */
ssl_protocol?: ("TLSv1" | "TLSv1.1" | "TLSv1.2" | "TLSv1.3")[]
}

/**
 * Client addresses that are refused. The service keeps either a blacklist or a whitelist: writing this item clears ip_white_list, and a manifest must not have both.
 */
export interface IpBlackList {
/**
 * Addresses and networks whose requests are refused. At most 200 entries, in any order; networks must not overlap each other. Always required; an empty list clears the stored entries, but is an error with mode append.
 * 
 * @maxItems 200
 * 
 * Items: One IP address, or an IPv4 network with prefix length /8, /16 or /24. Other prefix lengths and IPv6 networks are not possible.
 */
list: string[]
/**
 * cover replaces the stored list with this one; append adds the entries to it, and the limits then apply to the combined list. append is an action and not desired state, so a manifest cannot use it. When left out, cover applies.
 */
mode?: ("append" | "cover")
}

/**
 * Client addresses that are admitted; all others are refused. The service keeps either a blacklist or a whitelist: writing this item clears ip_black_list, and a manifest must not have both.
 */
export interface IpWhiteList {
/**
 * Addresses and networks whose requests are admitted. At most 200 entries, in any order; networks must not overlap each other. Always required; an empty list clears the stored entries, but is an error with mode append.
 * 
 * @maxItems 200
 * 
 * Items: One IP address, or an IPv4 network with prefix length /8, /16 or /24. Other prefix lengths and IPv6 networks are not possible.
 */
list: string[]
/**
 * cover replaces the stored list with this one; append adds the entries to it, and the limits then apply to the combined list. append is an action and not desired state, so a manifest cannot use it. When left out, cover applies.
 */
mode?: ("append" | "cover")
}

/**
 * The list of origins, each with its own port, protocol, host header, level, weight and carrier. A write replaces the whole list, and an empty list clears it. It takes precedence over origin and origin_host; extend takes precedence over it.
 * 
 * Items: One origin.
 */
export type NewOrigin = {
/**
 * Address of the origin: one IP (IPv4 or IPv6) or one domain, without scheme and port; those have fields of their own.
 */
origin: string
/**
 * Port of the origin, 0 to 65535. When left out it follows protocol: 80 for http, 443 for https. With protocol default the value is ignored and the service stores 0, but it must still lie in the range.
 */
port?: number
/**
 * Protocol used towards the origin. default follows the protocol and port of the client's request. default when left out.
 */
protocol?: ("default" | "http" | "https")
/**
 * Host header sent to this origin: a domain, not an IP and without a port. When left out or empty, origin_host applies if it is set; otherwise the accelerated domain is sent.
 */
host?: string
/**
 * Rank of the origin, 10 or 20. The highest level in the list is the main one; lower levels are backups, tried in falling order. If all origins share one level, all are main. 20 when left out.
 */
level?: (10 | 20)
/**
 * Weight among origins of the same level, 1 to 10000. Requests are divided in proportion to it. 1 when left out.
 */
weight_level?: number
/**
 * Carrier whose traffic uses this origin. As soon as any entry names dx, lt or yd, at least one entry of the list must be for default. default when left out.
 */
isp?: ("default" | "dx" | "lt" | "yd")
/**
 * Time limit for opening the TCP connection to this origin, in seconds, 3 to 60. 15 when left out.
 */
connect_time?: number
}[]

/**
 * Origin of content that is not in the cache: the main addresses, optional backups, and the protocol and port of origin requests. Main and backup addresses together may contain at most 6 IPs (domains are not counted). When new_origin is also set and the two conflict, new_origin takes precedence.
 */
export interface Origin {
/**
 * Main origin: IP addresses and domains, separated by commas; both kinds may be mixed, without scheme, port or path. Always required, with at least one address.
 */
default_master: string
/**
 * Backup origin, written like default_master. It must not repeat any address of the main origin (letter case and alternative IPv6 spellings do not make an address different), and its IPs count towards the total of 6. When left out there is no backup origin.
 */
default_slave?: string
/**
 * Protocol and port of origin requests: default copies what the client used, http means HTTP on port 80, https means HTTPS on port 443, custom takes them from ori_https and port. When left out, default applies.
 */
origin_mode?: ("default" | "http" | "https" | "custom")
/**
 * Whether origin requests use HTTPS (yes) or HTTP (no). Allowed only when origin_mode is custom; when left out in that mode, HTTP is used.
 */
ori_https?: ("yes" | "no")
/**
 * TCP port of the origin, 0 to 65535. Allowed only when origin_mode is custom; when left out or empty in that mode, port 80 is used, also with ori_https yes.
 */
port?: number
}

/**
 * The Host header the CDN sends when it requests content from the origin. Without this item the accelerated domain itself is sent, so setting the domain's own name resets it. An origin of new_origin that names its own host takes precedence.
 */
export interface OriginHost {
/**
 * Domain name to send as the Host header. It needs at least two labels and may be neither an IP address nor a name with a port. Always required; to keep the accelerated domain as host, omit the whole item.
 */
host: string
}

/**
 * Limits the size of uploads sent with POST.
 */
export interface PostUploadSizeLimit {
/**
 * The largest upload allowed, in MB, 1 to 1024.
 */
limit_value: number
}

/**
 * Whether the CDN fetches large files from the origin in slices, with Range requests: on or off. The service default is on, and the service lists only off among the details of a domain. When the item is left out, the setting is not changed.
 */
export type RangeBackSource = ("on" | "off")

/**
 * Caps the delivery rate of responses. A first part of each transfer can be exempt from the cap.
 */
export interface RateLimit {
/**
 * The highest rate, as a whole number counted in max_rate_unit. Must be greater than 0. The service names no time base for the rate.
 */
max_rate_count: number
/**
 * Unit of max_rate_count: KB or MB, in capitals. MB when left out.
 */
max_rate_unit?: ("KB" | "MB")
/**
 * Amount of data at the start of a transfer that is sent without the cap, counted in leading_flow_unit. When left out, no exempt amount is set.
 */
leading_flow_count?: number
/**
 * Unit of leading_flow_count: KB or MB, in capitals, independent of max_rate_unit. MB when left out. Has no effect without leading_flow_count.
 */
leading_flow_unit?: ("KB" | "MB")
}

/**
 * Access control by the Referer header of requests: either refuse the listed sites or admit only them. It protects content from being embedded by other sites.
 */
export interface Referer {
/**
 * Kind of the list: 1 refuses the listed referers (blacklist), 2 admits only the listed referers (whitelist). Always required.
 */
type: (1 | 2)
/**
 * Referring hosts that type applies to, at most 200; their order does not matter. Always required; an empty list removes all entries.
 * 
 * @maxItems 200
 * 
 * Items: One referring host: a domain or an IP address, without scheme and path. A leading *. makes it a wildcard for any host part before the domain, including none; an asterisk anywhere else and regular expressions are not possible.
 */
list: string[]
/**
 * Whether a request with an empty Referer gets through: true lets it pass, false refuses it. When left out, true applies.
 */
allow_empty?: boolean
}

/**
 * Compresses responses with gzip, brotli or both, each with its own level, smallest size and content types.
 */
export interface SmartCompression {
/**
 * Which algorithms are used. gzip needs the four gzip_ fields, brotli the four brotli_ fields, a pair all eight. gzip&brotli and brotli&gzip are two spellings of the same pair.
 */
compression_mode: ("gzip" | "brotli" | "gzip&brotli" | "brotli&gzip")
/**
 * Compression level of gzip, 1 to 9. Required when compression_mode is gzip or a pair; otherwise it may be left out and has no effect, but a given value is still checked.
 */
gzip_compression_rate?: number
/**
 * Smallest file size that is compressed with gzip, 1 to 65535, counted in gzip_compression_unit. Required when compression_mode is gzip or a pair; otherwise it may be left out and has no effect, but a given value is still checked.
 */
gzip_compression_value?: number
/**
 * Unit of gzip_compression_value: KB or MB, in capitals. Required when compression_mode is gzip or a pair; otherwise it may be left out and has no effect, but a given value is still checked.
 */
gzip_compression_unit?: ("KB" | "MB")
/**
 * Content types that are compressed with gzip; at least one. Order and repetition have no meaning. Required when compression_mode is gzip or a pair; otherwise it may be left out and has no effect, but a given value is still checked.
 * 
 * @minItems 1
 * 
 * Items: One content type, such as text/html.
 */
gzip_content_type?: string[]
/**
 * Compression level of brotli, 1 to 9. Required when compression_mode is brotli or a pair; otherwise it may be left out and has no effect, but a given value is still checked.
 */
brotli_compression_rate?: number
/**
 * Smallest file size that is compressed with brotli, 1 to 65535, counted in brotli_compression_unit. Required when compression_mode is brotli or a pair; otherwise it may be left out and has no effect, but a given value is still checked.
 */
brotli_compression_value?: number
/**
 * Unit of brotli_compression_value: KB or MB, in capitals. Required when compression_mode is brotli or a pair; otherwise it may be left out and has no effect, but a given value is still checked.
 */
brotli_compression_unit?: ("KB" | "MB")
/**
 * Content types that are compressed with brotli; at least one. Order and repetition have no meaning. Required when compression_mode is brotli or a pair; otherwise it may be left out and has no effect, but a given value is still checked.
 * 
 * @minItems 1
 * 
 * Items: One content type, such as text/html.
 */
brotli_content_type?: string[]
}

/**
 * Rewrites path and query of a request before it goes to the origin. A write replaces the whole list, and an empty list clears it.
 * 
 * Items: One rewrite rule.
 */
export type SourceUrlRewrite = {
/**
 * Regular expression over path and query of the client's request. It begins with / (not with ^). Groups in parentheses can be used again in target_url.
 */
origin_url: string
/**
 * The new path and query; it begins with /. $1, $2 and so on insert what the groups of origin_url matched. In a desired state a number without such a group, or $0, is an error.
 */
target_url: string
}[]

/**
 * Limits on download speed for parts of a site during a time of day. The array is the complete set of at most 100 rules and replaces the stored one; an empty array removes all limits.
 * 
 * @maxItems 100
 * 
 * Items: One speed limit.
 */
export type SpeedLimit = {
/**
 * Kind of the pattern: ext file suffixes, dir directories, route full paths, regex one regular expression, all every request. Always required.
 */
type: ("ext" | "dir" | "route" | "regex" | "all")
/**
 * Content that the rule applies to: suffixes, directories or full paths as type says, separated by commas. With regex it is one regular expression for the whole request URL, and commas belong to it; with all it must be exactly .*. Always required.
 */
pattern: string
/**
 * Speed limit in Kbps, a plain decimal number of at least 1 without a unit. The service converts it to KB and rounds up. Always required.
 */
speed: string
/**
 * Time of day at which the limit starts, as HH:MM on the 24-hour clock with two digits each (00:00 to 23:59). Always required; it must be earlier than end_time.
 */
begin_time: string
/**
 * Time of day at which the limit ends, written like begin_time. Always required; it must be later than begin_time, so a limit across midnight needs two rules, and 24:00 is not possible.
 */
end_time: string
}[]

/**
 * Sets the timeout of the domain. The time allowed for connecting to the origin is a separate item, connect_timeout.
 */
export interface Timeout {
/**
 * The timeout in whole seconds, 5 to 300, written as a string of decimal digits without leading zeros.
 */
time: string
}

/**
 * Groups of origins with carrier, order, weight and, for object storage, authentication. At least one group for the default carrier must be present.
 * 
 * @minItems 1
 * 
 * Items: One origin group.
 */
export type TosOrigin = {
/**
 * Carrier whose traffic uses this group. At least one group of the list must be for default. There is no value when left out: it must be given.
 */
isp: ("default" | "dx" | "lt" | "yd")
/**
 * Addresses of the group; at least one. Either all are IPs or all are domains; IPv4 and IPv6 may be mixed.
 * 
 * @minItems 1
 * 
 * Items: One IP (IPv4 or IPv6) or one domain, without a port.
 */
ips: string[]
/**
 * Place of the group in the main and backup order, 1 to 10.
 */
group_sort: number
/**
 * Weight of the group, 1 to 10000. When left out, no weight is set.
 */
weight?: number
/**
 * How the origin is reached: default is the service's standard behaviour, http and https fix the protocol, custom uses the fields protocol and port. default when left out.
 */
origin_mode?: ("default" | "http" | "https" | "custom")
/**
 * Protocol towards the origin, meant for origin_mode custom. When left out, no protocol is set.
 */
protocol?: ("default" | "http" | "https")
/**
 * Port of the origin, 0 to 65535, meant for origin_mode custom. When left out, no port is set.
 */
port?: number
/**
 * Host header of origin requests: default is the service's standard one, custom the one in host. With custom, host is required. default when left out.
 */
host_mode?: ("default" | "custom")
/**
 * Host header sent to the origin when host_mode is custom; without effect otherwise.
 */
host?: string
/**
 * Authentication towards the origin: default none, oss or tos the object storage of that name. Both take auth_secret_key and auth_access_key; oss also auth_bucket_name, tos also auth_expire and auth_cdn_tag. default when left out.
 */
auth_type?: ("default" | "oss" | "tos")
/**
 * Secret key for auth_type oss or tos. Give a secret reference, not the key itself. Has no effect with auth_type default.
 */
auth_secret_key?: string
/**
 * Access key for auth_type oss or tos. Give a secret reference, not the key itself. Has no effect with auth_type default.
 */
auth_access_key?: string
/**
 * Name of the bucket. Belongs to auth_type oss and has no effect with the others.
 */
auth_bucket_name?: string
/**
 * How long a signature is valid, in seconds, greater than 0. Belongs to auth_type tos and has no effect with the others.
 */
auth_expire?: number
/**
 * Tag of the CDN. Belongs to auth_type tos and has no effect with the others.
 */
auth_cdn_tag?: string
/**
 * Which IP version to prefer when a domain is resolved: v4 or v6 only, v4v6 for IPv4 first, v6v4 for IPv6 first, default for the service's standard behaviour. default when left out.
 */
parse_priority?: ("default" | "v4" | "v4v6" | "v6v4" | "v6")
}[]

/**
 * Allows or blocks requests by their User-Agent header, for all URLs or only for those that match. Every field must be given; none has a default.
 */
export interface UserAgent {
/**
 * The user agents, one on each line; a comma is part of the text, not a separator. A manifest may give a list. ua_type says whether they are blocked or allowed.
 */
ua_list: string
/**
 * The URLs the rule covers, read according to url_match_type. Must not be empty; with regex it must be a well-formed regular expression, with all any text is accepted (.* is usual).
 */
url_pattern: string
/**
 * Whether letter case is ignored when URLs are compared. By the field's name yes ignores it and no does not; the service does not explain the values.
 */
url_case_insensitive: ("yes" | "no")
/**
 * yes lets requests with an empty user agent through, no refuses them.
 */
allow_empty_ua: ("yes" | "no")
/**
 * Whether letter case is ignored when user agents are compared. By the field's name yes ignores it and no does not; the service does not explain the values.
 */
ua_case_insensitive: ("yes" | "no")
/**
 * How url_pattern is read: all for every URL, ext for file suffixes, dir for directories, route for full paths, regex for a regular expression.
 */
url_match_type: ("all" | "ext" | "dir" | "route" | "regex")
/**
 * black blocks the user agents in ua_list, white allows only them.
 */
ua_type: ("black" | "white")
/**
 * pattern looks for the text anywhere in the user agent, exact compares the whole of it.
 */
ua_match_type: ("pattern" | "exact")
}

/**
 * Authenticates origin fetches against an external URL, for all requests or only for those that match a pattern.
 */
export interface VendorOriginAuth {
/**
 * URL of the authentication service. It must begin with http:// or https:// and contain a host.
 */
auth_url: string
/**
 * Which requests are authenticated: default means all, ext those whose file suffix is listed in pattern, regex those that match the regular expression in pattern. default when left out.
 */
match_method?: ("default" | "ext" | "regex")
/**
 * With ext: the file suffixes, separated by commas. With regex: one regular expression. Must not be empty with either of the two. Ignored with default. Empty when left out, which stands for everything.
 */
pattern?: string
}

/**
 * Seeking in MP4 and FLV videos by query arguments that name the start and end position. Setting both mp4 and flv to off switches it off.
 */
export interface VideoDrag {
/**
 * Regular expression that selects the video URLs. Always required.
 */
url: string
/**
 * Whether seeking works for MP4 files. Always required.
 */
mp4: ("on" | "off")
/**
 * Whether seeking works for FLV files. Always required.
 */
flv: ("on" | "off")
/**
 * Name of the query argument with the start position: ASCII letters, digits and underscores, not beginning with a digit. Always required, even when mp4 and flv are off.
 */
start: string
/**
 * Name of the query argument with the end position, under the same rules as start. Always required, even when mp4 and flv are off.
 */
end: string
}

/**
 * Allows or blocks access by the visitor's country.
 */
export interface VisitAreasLimit {
/**
 * white lets only the listed countries in, black keeps them out.
 */
limit_type: ("white" | "black")
/**
 * The countries, separated by commas, in small letters and spelled exactly as the service names them (for example viet nam, united states). At least one. A manifest may give a list. Order has no meaning.
 */
country_list: string
}

/**
 * URLs exempt from the anti-leech checks. Each entry adds or removes one URL and the service leaves URLs that are not mentioned alone.
 * 
 * @minItems 1
 * 
 * Items: One URL to exempt.
 */
export type VisitDenyWhitelist = {
/**
 * Path of the URL, beginning with a slash, optionally followed by ? and arguments; no scheme, domain or blanks. A URL must not appear with both values of turn_on. Always required.
 */
url: string
/**
 * true adds the URL to the list, false removes it. false is an action and not desired state, so a manifest can only use true. Always required.
 */
turn_on: boolean
}[]

/**
 * Protection against link sharing by signed URLs: a request is served only when its URL carries a valid MD5 signature and a timestamp that is not too old. The signature is computed from the signing key, the path and the time.
 */
export interface VisitTimestamp {
/**
 * Regular expression that selects the URLs to protect, compared with scheme://domain/uri?args; .* selects all. Always required.
 */
pattern: string
/**
 * How the time in the URL is written: timestamp is Unix seconds in decimal, timestamp_hex the same in hexadecimal, date_minute a date as YYYYmmddHHii. Always required.
 */
time_format: ("timestamp_hex" | "date_minute" | "timestamp")
/**
 * Signing key, or several keys separated by spaces, for example during a key change. It is a secret: refer to a secret source instead of writing the key down. Always required.
 */
key: string
/**
 * How long a signed URL stays valid, in seconds, at least 1; older URLs are refused. Always required.
 */
deadtime: number
/**
 * Where the URL carries signature and time: 1 query arguments, signature before time; 2 query arguments, time before signature; 3 path /<time>/<signature>/<uri>; 4 path /<signature>/<time>/<uri>. Always required.
 */
req_uri_type: (1 | 2 | 3 | 4)
/**
 * Whether the signature is passed on in origin requests: 1 removes it, 2 keeps it. When left out, 1 applies.
 */
origin_type?: (1 | 2)
/**
 * Order of the three parts of the signed text, written as $ourkey, $uri and $time joined without separators; each must occur exactly once and nothing else may appear. When left out, the service uses its own order.
 */
style?: string
/**
 * Name of the query argument that carries the time, without &, =, ?, # and blanks. Used only with req_uri_type 1 and 2, where it must differ from keyname; it has no effect with 3 and 4. When left out, time applies.
 */
timename?: string
/**
 * Name of the query argument that carries the signature, without &, =, ?, # and blanks. Used only with req_uri_type 1 and 2, where it must differ from timename. When left out, key applies.
 */
keyname?: string
/**
 * Any string is accepted by the service, but the effect is not documented. Leave it out unless the operator requests it; nothing is sent then.
 */
error_page?: string
}
