/** The small vocabulary of rules and requests; it is small so that rules overlap. */

export const folders = ['static', 'img', 'a', 'b', 'v', 'api', 'test'] as const
export const stems = ['a', 'b', 'index', 'x1', 'a-b', 'I', 'photo_2', '5'] as const
export const extensions = ['jpg', 'png', 'css', 'js', 'mp4', 'flv', 'php', 'html'] as const
export const parameters = ['v', 'index', 'id', 'f', 'start', 'end', 'time', 'key'] as const

export const countries = ['china', 'japan', 'viet nam', 'united states', 'canada', 'germany']
/** The countries that a configuration may name. */
export const knownCountries = ['china', 'japan', 'viet nam', 'united states', 'germany', 'india']

export const refererHosts = [
  'example.com',
  '*.example.com',
  'trusted.com',
  '*.trusted.com',
  'a.trusted.com',
  'BAD.org',
  '*.bad.org',
  '192.0.2.7',
  'shop.example.net',
] as const

export const agents = [
  'curl/8.0',
  'Mozilla/5.0 (X11; Linux)',
  'Bad Bot/1',
  'bot',
  'okhttp',
] as const

/** Parts of the addresses; a list takes one entry of each group, so that no networks overlap. */
export const networks = [
  ['10.0.0.0/8', '10.1.0.0/16', '10.1.2.0/24', '10.1.2.3'],
  ['192.168.1.0/24', '192.168.0.0/16', '192.168.1.77/24'],
  ['203.0.113.7', '203.0.113.0/24'],
  ['2001:db8::1', '2001:DB8:0:0::1', '2001:db8::ff'],
  ['198.51.100.255', '198.51.0.0/16'],
  ['0.0.0.0/8', '255.255.255.255', '255.255.255.0/24', '127.0.0.0/8'],
  ['::1', 'fe80::1', '::'],
] as const

/** Headers on which several items work. */
export const sharedHeaders = ['X-A', 'x-a', 'X-B', 'X-Test'] as const
export const requestHeaders = [
  ...sharedHeaders,
  'Host',
  'Referer',
  'User-Agent',
  'Accept-Encoding',
  'X-Real-IP',
  'X-Forwarded-For',
]
export const responseHeaders = [
  ...sharedHeaders,
  'Cache-Control',
  'Expires',
  'Pragma',
  'Date',
  'Content-Type',
  'Server',
  'X-Cache',
]
export const headerValues = ['a', 'b', 'A', 'no-cache', 'max-age=60', 'gzip', 'x, y', ''] as const

export const originAddresses = [
  '192.0.2.10',
  '192.0.2.11',
  '198.51.100.5',
  'o1.example.net',
  'O2.example.net',
  '2001:db8::10',
] as const
export const originHosts = ['h.example.net', 'o.example.net', 'www.example.com'] as const
export const carriers = ['dx', 'lt', 'yd'] as const
export const contentTypes = [
  'text/html',
  'text/css',
  'TEXT/Plain',
  'application/json',
  'image/png',
] as const
export const errorCodes = ['400', '403', '404', '414', '500', '502', '503', '506'] as const
export const minutes = ['00:00', '00:01', '08:00', '08:30', '12:00', '18:00', '23:58', '23:59']
