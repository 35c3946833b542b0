'use strict'
// What a URL shows once it is masked: everything but what may be secret.

const assert = require('node:assert/strict')
const { randomBytes } = require('node:crypto')
const { test } = require('node:test')
const fc = require('fast-check')
const { WORDS, isPlain } = require('../../src/core/redaction/plain-url')
const { maskUrl } = require('../../src/core/redaction/url')

const JWT =
  'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U'
const HEX = '9f86d081884c7d659a2feaa0c55ad015'

/** Without the query: what is asked for, and what a line shows of it. */
const PATHS = [
  ['/users/7', '/users/7'],
  ['/users/7?token=s3cret', '/users/7'],
  ['/users/7#access_token=s3cret', '/users/7'],
  ['http://user:s3cret@host/a', 'http://[Redacted]@host/a'],
  ['HTTP://user:s3@cret@host:80/a?b', 'HTTP://[Redacted]@host:80/a'],
  ['http://s3cret@host/a', 'http://[Redacted]@host/a'],
  ['//user:s3cret@host/a', '//[Redacted]@host/a'],
  ['/proxy/http:/user:s3cret@host/a', '/proxy/http:/[Redacted]@host/a'],
  ['/proxy/redis://u:12/s3cret@h', '/proxy/redis://[Redacted]@h'],
  ['http://user:s3#cret@host/a', 'http://[Redacted]@host/a'],
  ['http://user:s3?cret@host/a', 'http://[Redacted]@host/a'],
  ['redis://u:12/s3cret@h/0', 'redis://[Redacted]@h/0'],
  ['/proxy/http%3A%2F%2Fuser%3As3cret%40host%2Fa', '/proxy/[Redacted]'],
  ['/proxy/http%253A%252F%252Fuser%253As3cret%2540host', '/proxy/[Redacted]'],
  ['/shop;jsessionid=s3cret/cart', '/shop;jsessionid=[Redacted]/cart'],
  ['/shop;JSESSIONID=s3cret', '/shop;JSESSIONID=[Redacted]'],
  ['/shop%3Bjsessionid%3Ds3cret', '/[Redacted]'],
  ['/map;v=1;lat=50', '/map;v=[Redacted];lat=[Redacted]'],
  ['/callback/access_token=s3cret&state=1', '/callback/access_token=[Redacted]&state=1'],
  ['/reset/s3cret', '/reset/[Redacted]'],
  ['/reset/s3cret/7', '/reset/[Redacted]/[Redacted]'],
  ['/RESET-Password/s3cret', '/RESET-Password/[Redacted]'],
  ['/%72eset/s3cret', '/%72eset/[Redacted]'],
  ['/users/7/verify-email/s3cret', '/users/7/verify-email/[Redacted]'],
  ['/password/reset', '/password/reset'],
  ['/token/refresh', '/token/refresh'],
  ['/invite/s3cret/accept', '/invite/[Redacted]/accept'],
  ['/assets/reset.css', '/assets/reset.css'],
  [`/view/${JWT}`, '/view/[Redacted]'],
  [`/view/${JWT}/file.txt`, '/view/[Redacted]/file.txt'],
  [`/download/${HEX}.pdf`, '/download/[Redacted].pdf'],
  [`/download/${HEX.toUpperCase()}`, '/download/[Redacted]'],
  ['/pay/sk_live_4eC39HqLyjWDarjtT1zdp7dc', '/pay/[Redacted]'],
  ['/gh/ghp_16C7e42F292c6912E7710c838347Ae178B4a', '/gh/[Redacted]'],
  ['/x/dGhpcyBpcyBhIHNlY3JldCBrZXk0Mg%3D%3D', '/x/[Redacted]'],
]

for (const [url, shown] of PATHS) {
  test(`of ${url.slice(0, 60)} a line shows ${shown}`, () => {
    assert.equal(maskUrl(url, false), shown)
  })
}

/** What routes, ids, slugs and files look like: they stay. */
const HARMLESS = [
  '/',
  '*',
  'host:443',
  '/users/123e4567-e89b-12d3-a456-426614174000/orders',
  '/users/507f1f77bcf86cd799439011',
  '/orders/01ARZ3NDEKTSV4RRFFQ69G5FAV',
  '/posts/cjld2cjxh0000qzrmn831i7rn',
  '/users/bob@example.com',
  '/@scope/package@1.2.3',
  '/blog/2024/12/how-to-install-node-20-on-ubuntu-22-04-in-ten-steps',
  '/blog/My-Trip-To-Paris-And-Other-Stories-2024-Part-2',
  '/rpc/getUserAccountDetailsByEmailAddress',
  '/static/js/main.3f2a1b4c5d6e7f8a9b0c3f2a1b4c5d6e7f8a9b0c.js',
  '/assets/application-9f86d081884c7d659a2feaa0c55ad0159f86d081884c7d659a2feaa0c55ad015.css',
  '/authors/7',
  '/rpc/getAllHTMLPagesOfTheWholeOrganisationByTheirOwnerAndTheirDate',
  '/caf%C3%A9/men%C3%BC',
  '/files/what%3F.txt',
  '/search/100%',
  '/time/2024-01-01T12:30:00Z',
  `/${'x'.repeat(999)}`,
]

for (const url of HARMLESS) {
  test(`${url.slice(0, 60)} is shown as it is`, () => {
    assert.equal(maskUrl(url, false), url)
    assert.equal(maskUrl(url, true), url)
  })
}

for (const word of Object.keys(WORDS)) {
  test(`what is behind ${word} is looked at, in any case and with a dash in it`, () => {
    const split = `${word.slice(0, 3)}-${word.slice(3)}`
    const whole = {
      activat: 'activate',
      invit: 'invite',
      passw: 'password',
      unsubscrib: 'unsubscribe',
      verif: 'verify',
    }
    for (const each of [word, word.toUpperCase(), split, `my-${word}`])
      assert.equal(isPlain(`/${each}/a`), false, each)
    for (const each of [whole[word] ?? word, (whole[word] ?? word).toUpperCase()])
      assert.equal(maskUrl(`/${each}/s3cret`, false), `/${each}/[Redacted]`)
  })
}

/** With the query. */
const QUERIES = [
  ['page=2&sort=name', 'page=2&sort=name'],
  ['token=s3cret&page=2', 'token=[Redacted]&page=2'],
  ['ACCESS-TOKEN=s3cret', 'ACCESS-TOKEN=[Redacted]'],
  ['apiKey=s3cret&api_key=s3cret&API-KEY=s3cret', 'apiKey=[Redacted]&api_key=[Redacted]&API-KEY=[Redacted]'],
  ['user[password]=s3cret', 'user[password]=[Redacted]'],
  ['pat=s3cret&PAT=s3cret&github_pat=s3cret', 'pat=[Redacted]&PAT=[Redacted]&github_pat=[Redacted]'],
  ['mfa_code=123456&mfaCode=123456', 'mfa_code=[Redacted]&mfaCode=[Redacted]'],
  ['2fa=123456&user[2fa]=123456&2fa_code=1', '2fa=[Redacted]&user[2fa]=[Redacted]&2fa_code=[Redacted]'],
  [
    'otp=1&otp_code=1&smsCode=1&twoFactor=1',
    'otp=[Redacted]&otp_code=[Redacted]&smsCode=[Redacted]&twoFactor=[Redacted]',
  ],
  ['pattern=1&mpath=1&compat=1&patch=1&spot=1', 'pattern=1&mpath=1&compat=1&patch=1&spot=1'],
  ['country_code=1&postcode=1&error_code=1', 'country_code=1&postcode=1&error_code=1'],
  ['q={\\"password\\":\\"s3cret\\"}', 'q=[Redacted]'],
  ['q={"user[password]":"s3cret"}', 'q=[Redacted]'],
  ['q={"a":{"pat":["s3cret"]}}', 'q=[Redacted]'],
  ['url=redis://u:12/s3cret@h', 'url=[Redacted]'],
  ['url=redis%3A%2F%2Fu%3A12%2Fs3cret%40h', 'url=[Redacted]'],
  ['user%5Bpassword%5D=s3cret', 'user%5Bpassword%5D=[Redacted]'],
  ['a[b][secret][0]=s3cret', 'a[b][secret][0]=[Redacted]'],
  ['token[]=s3cret&token[]=s3cret', 'token[]=[Redacted]&token[]=[Redacted]'],
  ['%74oken=s3cret&%2574oken=s3cret', '%74oken=[Redacted]&%2574oken=[Redacted]'],
  ['to%ZZken=1&token%ZZ=s3cret', 'to%ZZken=1&token%ZZ=[Redacted]'],
  ['code=s3cret&state=x', 'code=[Redacted]&state=x'],
  ['X-Amz-Signature=s3cret&X-Amz-Date=1', 'X-Amz-Signature=[Redacted]&X-Amz-Date=1'],
  ['sv=2022&sig=s3cret', 'sv=2022&sig=[Redacted]'],
  ['a=1;token=s3cret', 'a=[Redacted]'],
  [`q=${HEX}`, 'q=[Redacted]'],
  [`${JWT}`, '[Redacted]'],
  ['redirect=https%3A%2F%2Fuser%3As3cret%40host', 'redirect=[Redacted]'],
  ['url=http://h/?token=s3cret', 'url=[Redacted]'],
  ['next=%2Freset%2Fs3cret', 'next=[Redacted]'],
  ['next=%2Flogin', 'next=%2Flogin'],
  ['variables={"name":"s3cret"}', 'variables=[Redacted]'],
  ['variables=%7B%22name%22%3A%22s3cret%22%7D', 'variables=[Redacted]'],
  ['query=mutation{login(password:"s3cret"){id}}', 'query=[Redacted]'],
  ['query={users{id+name}}', 'query={users{id+name}}'],
  ['author=bob&email=bob@example.com&at=12:30', 'author=bob&email=bob@example.com&at=12:30'],
]

for (const [query, shown] of QUERIES) {
  test(`of the query ${query.slice(0, 60)} a line shows ${shown}`, () => {
    assert.equal(maskUrl(`/a?${query}`, true), `/a?${shown}`)
    assert.equal(maskUrl(`/a?${query}#s3cret`, true), `/a?${shown}`)
  })
}

test('random tokens of 22 to 86 characters are masked, of which one in a hundred may pass', () => {
  const encodings = /** @type {const} */ (['hex', 'base64url'])
  for (const encoding of encodings) {
    for (const bytes of [16, 20, 24, 32, 64]) {
      const tokens = Array.from({ length: 2000 }, () => randomBytes(bytes).toString(encoding))
      const passed = tokens.filter((token) => maskUrl(`/files/${token}`, false).includes(token))
      assert.ok(
        passed.length <= (bytes < 24 ? 100 : 20),
        `${passed.length} of ${bytes} bytes in ${encoding}: ${passed[0]}`
      )
    }
  }
})

test('whatever a URL is made of, masking it never throws, and what is behind a telling name never shows', () => {
  const segment = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.constantFrom(
      '%',
      '%%',
      '//',
      ';',
      '=',
      '@',
      ':',
      '?',
      '&',
      '[',
      'token',
      'http:',
      '%2',
      '%25',
      'a'.repeat(3000)
    )
  )
  fc.assert(
    fc.property(fc.array(segment, { maxLength: 20 }), fc.boolean(), (segments, showsQuery) => {
      const before = segments.join('/').replace(/[?#]/g, '')
      const shown = maskUrl(`/${before}/reset/n0tShown?token=n0tShown&x=1`, showsQuery)
      assert.equal(shown.includes('n0tShown'), false, shown)
    }),
    { numRuns: 2000 }
  )
})

test('a URL as long as Node takes costs no more than its length', () => {
  const pieces = ['=', 'a=', 'a/', '//', '@', 'eyJ', 'token', '%25', ';a=', 'a.', '&b=', '://a:', '[']
  for (const piece of pieces) {
    const url = `/${piece.repeat(Math.ceil(16_384 / piece.length))}`
    for (const showsQuery of [true, false]) {
      const { user, system } = process.cpuUsage()
      maskUrl(url, showsQuery)
      maskUrl(`/a?${url}`, showsQuery)
      const spent = process.cpuUsage({ user, system })
      assert.ok(spent.user + spent.system < 500_000, `${piece} took ${spent.user + spent.system} µs`)
    }
  }
})

test('values within values are not followed without end', () => {
  for (const piece of ['=', 'a=', '/a=', '?a=', '%3D', ';a=b=']) {
    const url = `/${piece.repeat(Math.floor(2000 / piece.length))}`
    for (const showsQuery of [true, false]) assert.equal(typeof maskUrl(url, showsQuery), 'string')
  }
  assert.equal(maskUrl(`/${'='.repeat(2000)}`, true), '/=[Redacted]')
})

test('a malformed URL makes no error for each of its segments: a thousand block the event loop for 20 ms', (t) => {
  const decode = globalThis.decodeURIComponent
  let errors = 0
  globalThis.decodeURIComponent = (text) => {
    try {
      return decode(text)
    } catch (error) {
      errors++
      throw error
    }
  }
  t.after(() => {
    globalThis.decodeURIComponent = decode
  })
  for (const piece of ['/%', '/a=%', '/%ff', '/;%=%2525', '?%=%&'])
    for (const showsQuery of [true, false]) maskUrl(`/${piece.repeat(1000)}`, showsQuery)
  assert.equal(errors, 0)
})

test('a name is read beside what is malformed', () => {
  for (const malformed of ['%', '%zz', '%ff', '%e2%28', '%E4'])
    assert.equal(maskUrl(`/a?${malformed}%70assword=s3cret`, true), `/a?${malformed}%70assword=[Redacted]`)
})
