import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bindFilter } from './bind-filter.ts'
import { evaluateFilter } from './evaluate-filter.ts'
import { ScimError } from './scim-error.ts'
import { parseScimFilter, parseScimPath } from './scim-filter.ts'
import { USER_SCHEMA, USER_TYPE } from './scim-schema.ts'

const SCOPE = { attributes: USER_TYPE.attributes, schema: USER_SCHEMA }

const ADA = {
  id: '7',
  externalId: 'Ext-1',
  userName: 'ada@example.com',
  name: { givenName: 'Ada', familyName: 'Lovelace' },
  displayName: 'Ada Lovelace',
  emails: [
    { value: 'ada@example.com', type: 'work', primary: true },
    { value: 'ada@example.org', type: 'home' },
  ],
  active: true,
  meta: { resourceType: 'User', created: '2026-01-02T03:04:05.678Z' },
}

function isMet(filter: string): boolean {
  return evaluateFilter(bindFilter(parseScimFilter(filter), SCOPE), ADA)
}

describe('a filter', () => {
  it.each([
    'userName eq "ada@example.com"',
    'USERNAME EQ "ADA@EXAMPLE.COM"',
    'urn:ietf:params:scim:schemas:core:2.0:User:userName eq "ada@example.com"',
    'userName ne "alan@example.com"',
    'externalId eq "Ext-1"',
    'name.familyName co "lace"',
    'name.familyName sw "love"',
    'name.familyName ew "ACE"',
    'name pr',
    'name.formatted ne "x"',
    'active eq true',
    'active eq "True"',
    'active ne false',
    'emails pr',
    'emails eq "ada@example.org"',
    'emails.type eq "home"',
    'emails[type eq "work" and value co "example.com"]',
    'emails[type eq "work"].value eq "ada@example.com"',
    'emails[not (type eq "work")]',
    'meta.created ge "2026-01-02T03:04:05.678Z"',
    'meta.created lt "2026-01-03T00:00:00+00:00"',
    'displayName eq "x" or displayName eq "y" or displayName eq "ada lovelace"',
    'name.formatted eq null',
    'userName ne null',
    'not (userName eq "x")',
    'not(name.formatted pr)',
    // RFC 7644 section 3.4.2.2: `and` binds tighter than `or`, `not` tighter than both.
    'userName pr or active eq false and displayName eq "x"',
    '(userName pr or active eq false) and displayName pr',
    'not (active eq false) and userName pr',
  ])('holds: %s', (filter) => {
    expect(isMet(filter)).toBe(true)
  })

  it.each([
    'externalId eq "ext-1"',
    'name.formatted eq "Ada"',
    'name.formatted pr',
    'active eq false',
    'emails[type eq "work" and value co "example.org"]',
    'emails[type eq "work"].value eq "ada@example.org"',
    'emails.primary eq false',
    'meta.created gt "2026-01-02T03:04:05.678Z"',
    '(userName pr or active eq false) and displayName eq "x"',
    'not (active eq false and userName pr) and displayName eq "x"',
  ])('does not hold: %s', (filter) => {
    expect(isMet(filter)).toBe(false)
  })

  it.each([
    '',
    'userName',
    'userName eq',
    'userName like "x"',
    'userName eq x',
    'userName eq "x',
    'userName eq "x" and',
    'userName eq "x" userName eq "y"',
    '(userName eq "x"',
    'userName eq "x")',
    'not userName eq "x"',
    'emails[type eq "work"',
    'emails[type eq "work"].value',
    'name[familyName eq "x"]',
    'name eq "x"',
    'shoeSize eq "45"',
    'name.shoeSize eq "45"',
    'a.b.c eq "x"',
    'urn:example:other:userName eq "x"',
    'userName eq 5',
    'active gt true',
    'active eq "maybe"',
    'active co "t"',
    'meta.created eq "yesterday"',
    'meta.created co "2026"',
    'userName gt null',
    '__proto__ pr',
    'constructor.name eq "x"',
    `${'('.repeat(21)}userName pr${')'.repeat(21)}`,
    `${'not ('.repeat(5_000)}`,
    `userName eq "${'x'.repeat(5_000)}"`,
  ])('is refused: %s', (filter) => {
    expect(() => isMet(filter)).toThrow(expect.objectContaining({ scimType: 'invalidFilter' }))
  })

  it('is refused or understood, whatever it is, and never breaks', () => {
    const words = fc.constantFrom(
      ...['userName', 'emails', 'eq', 'pr', 'and', 'or', 'not', '(', ')', '[', ']', '.value'],
      ...['"x"', 'true', 'null', '"', '\\', '5', 'meta.created', ':', 'urn:x:y'],
    )
    const texts = fc.oneof(
      fc.string(),
      fc.array(words, { maxLength: 12 }).map((parts) => parts.join(' ')),
    )
    fc.assert(
      fc.property(texts, (text) => {
        try {
          isMet(text)
        } catch (error) {
          expect(error).toBeInstanceOf(ScimError)
        }
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('a path', () => {
  it('names an attribute, values of it, and a part of them', () => {
    expect(parseScimPath('name.familyName')).toEqual({
      schema: undefined,
      attribute: 'name',
      subAttribute: 'familyName',
      filter: undefined,
    })
    expect(parseScimPath('emails[type eq "work"].value')).toMatchObject({
      attribute: 'emails',
      subAttribute: 'value',
      filter: { kind: 'compare', operator: 'eq', value: 'work' },
    })
    expect(
      parseScimPath('urn:ietf:params:scim:schemas:core:2.0:User:name.givenName'),
    ).toMatchObject({
      schema: USER_SCHEMA,
      attribute: 'name',
      subAttribute: 'givenName',
    })
  })

  it.each(['', 'a b', 'emails[', 'emails[]', 'emails[type eq "work"] x', 'emails[x pr]y', '"x"'])(
    'is refused: %s',
    (path) => {
      expect(() => parseScimPath(path)).toThrow(
        expect.objectContaining({ scimType: 'invalidPath' }),
      )
    },
  )
})
