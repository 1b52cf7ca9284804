/** A certificate for www.example.com that nobody has signed, and its key, for tests only. */
export const untrusted = {
  key: formatPem('PRIVATE KEY', [
    'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgSXCUil/CdGXR/iRT',
    'QtyStxgUu7CsUuosDADoxN6BSzahRANCAATd51i1az3MQwzVoxGABF3QepuNHSqE',
    'X9kIb/mo8aBEPp4k/fq3qSh47pIi6o0EbRwtgNWecP8h7U1i5LfZIt0Z',
  ]),
  cert: formatPem('CERTIFICATE', [
    'MIIBpzCCAU2gAwIBAgIUPBOPRxWLGkCWT+J8DjgeztUPBFEwCgYIKoZIzj0EAwIw',
    'GjEYMBYGA1UEAwwPd3d3LmV4YW1wbGUuY29tMCAXDTI2MTEyNzEwMjU0NFoYDzIx',
    'MjYxMTAzMTAyNTQ0WjAaMRgwFgYDVQQDDA93d3cuZXhhbXBsZS5jb20wWTATBgcq',
    'hkjOPQIBBggqhkjOPQMBBwNCAATd51i1az3MQwzVoxGABF3QepuNHSqEX9kIb/mo',
    '8aBEPp4k/fq3qSh47pIi6o0EbRwtgNWecP8h7U1i5LfZIt0Zo28wbTAdBgNVHQ4E',
    'FgQUpgreWFxnInXxg38rZoflorozlr0wHwYDVR0jBBgwFoAUpgreWFxnInXxg38r',
    'Zoflorozlr0wDwYDVR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgg93d3cuZXhhbXBs',
    'ZS5jb20wCgYIKoZIzj0EAwIDSAAwRQIhAP5AXtZaLnp5C+vSvGDRt/lcRAWvFhvD',
    'bypGcsKzpOzMAiB+yilenB5BxsK4HkeND1yHLKAYb3ChumGyYCwylmVIEw==',
  ]),
}

function formatPem(label: string, lines: string[]): string {
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}
