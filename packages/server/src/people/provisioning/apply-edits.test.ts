import { describe, expect, it } from 'vitest'
import { applyEdits } from './apply-edits.ts'
import { readPatch } from './patch-edits.ts'
import { GROUP_TYPE, USER_SCHEMA, USER_TYPE } from './scim-schema.ts'

const WORK = { value: 'ada@example.com', type: 'work', primary: true }
const HOME = { value: 'ada@example.org', type: 'home' }
const ADA = {
  userName: 'ada@example.com',
  name: { givenName: 'Ada', familyName: 'Lovelace' },
  emails: [WORK, HOME],
  active: true,
}
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
const WORK_VALUE = 'emails[type eq "work"].value'

function patch(...Operations: object[]): Record<string, unknown> {
  return applyEdits(ADA, readPatch(USER_TYPE, { Operations }))
}

interface Case {
  readonly title: string
  readonly operations: readonly object[]
  /** What differs from before; undefined members are gone. */
  readonly change: Readonly<Record<string, unknown>>
}

const CASES: readonly Case[] = [
  {
    title: 'replaces a single value',
    operations: [{ op: 'replace', path: 'userName', value: 'countess' }],
    change: { userName: 'countess' },
  },
  {
    title: 'takes operations in capitals and booleans as texts',
    operations: [{ op: 'Replace', path: 'active', value: 'False' }],
    change: { active: false },
  },
  {
    title: 'takes names in any case',
    operations: [{ OP: 'REPLACE', Path: 'USERNAME', VALUE: 'countess' }],
    change: { userName: 'countess' },
  },
  {
    title: 'takes a single value wrapped in a list',
    operations: [{ op: 'Add', path: 'externalId', value: [{ $ref: null, value: 'x-1' }] }],
    change: { externalId: 'x-1' },
  },
  {
    title: 'takes an object without a path',
    operations: [{ op: 'replace', value: { active: false, displayName: 'Countess' } }],
    change: { active: false, displayName: 'Countess' },
  },
  {
    title: 'takes dotted and qualified names in an object without a path',
    operations: [
      {
        op: 'replace',
        value: {
          'name.familyName': 'King',
          [`${USER_SCHEMA}:displayName`]: 'Ada King',
          [WORK_VALUE]: 'king@example.com',
          [`${ENTERPRISE}:employeeNumber`]: '42',
        },
      },
    ],
    change: {
      name: { givenName: 'Ada', familyName: 'King' },
      displayName: 'Ada King',
      emails: [{ ...WORK, value: 'king@example.com' }, HOME],
    },
  },
  {
    title: 'takes the schema as the path and as a member',
    operations: [
      { op: 'add', path: USER_SCHEMA, value: { displayName: 'A' } },
      {
        op: 'add',
        value: { [USER_SCHEMA]: { externalId: 'x' }, [ENTERPRISE]: { department: 'D' } },
      },
    ],
    change: { displayName: 'A', externalId: 'x' },
  },
  {
    title: 'leaves what an object without a path carries along',
    operations: [
      {
        op: 'replace',
        value: { id: '7', schemas: [], meta: {}, groups: [], shoeSize: 45, active: false },
      },
    ],
    change: { active: false },
  },
  {
    title: 'drops attributes of the standard that are not kept',
    operations: [
      { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+1 555 0100' },
      { op: 'Add', path: `${ENTERPRISE}:department`, value: 'Engines' },
      { op: 'Add', path: ENTERPRISE, value: { department: 'Engines' } },
      { op: 'Remove', path: 'title' },
    ],
    change: {},
  },
  {
    title: 'keeps the parts of a name that are not named',
    operations: [{ op: 'replace', path: 'name', value: { familyName: 'King' } }],
    change: { name: { givenName: 'Ada', familyName: 'King' } },
  },
  {
    title: 'sets one part of a name',
    operations: [{ op: 'add', path: 'name.formatted', value: 'Ada, Countess of Lovelace' }],
    change: {
      name: { givenName: 'Ada', familyName: 'Lovelace', formatted: 'Ada, Countess of Lovelace' },
    },
  },
  {
    title: 'removes parts until nothing is left',
    operations: [
      { op: 'remove', path: 'name.givenName' },
      { op: 'remove', path: 'name.familyName' },
    ],
    change: { name: undefined },
  },
  {
    title: 'takes null and an empty text for a removal',
    operations: [
      { op: 'replace', path: 'name.givenName', value: null },
      { op: 'replace', path: 'name.familyName', value: '' },
    ],
    change: { name: undefined },
  },
  {
    title: 'replaces a part of the chosen values',
    operations: [{ op: 'Replace', path: WORK_VALUE, value: 'king@example.com' }],
    change: { emails: [{ ...WORK, value: 'king@example.com' }, HOME] },
  },
  {
    title: 'makes the value that an add chooses when there is none',
    operations: [{ op: 'Add', path: 'emails[type eq "other"].value', value: 'a@example.net' }],
    change: { emails: [WORK, HOME, { type: 'other', value: 'a@example.net' }] },
  },
  {
    title: 'replaces chosen values',
    operations: [
      {
        op: 'replace',
        path: 'emails[type eq "home"]',
        value: { value: 'h@example.org', type: 'home' },
      },
    ],
    change: { emails: [WORK, { value: 'h@example.org', type: 'home' }] },
  },
  {
    title: 'removes chosen values',
    operations: [{ op: 'remove', path: 'emails[type eq "home" or value ew ".net"]' }],
    change: { emails: [WORK] },
  },
  {
    title: 'removes nothing where nothing is chosen',
    operations: [{ op: 'remove', path: 'emails[type eq "other"]' }],
    change: {},
  },
  {
    title: 'removes a part of the chosen values',
    operations: [{ op: 'remove', path: 'emails[type eq "home"].type' }],
    change: { emails: [WORK, { value: HOME.value }] },
  },
  {
    title: 'adds values to those that are there, each once',
    operations: [
      { op: 'add', path: 'emails', value: [{ value: 'ADA@example.org', display: 'Home' }] },
      { op: 'add', path: 'emails', value: { value: 'new@example.com' } },
    ],
    change: {
      emails: [
        WORK,
        { value: 'ADA@example.org', type: 'home', display: 'Home' },
        { value: 'new@example.com' },
      ],
    },
  },
  {
    title: 'keeps one primary value, the newest',
    operations: [
      { op: 'add', path: 'emails', value: [{ value: 'new@example.com', primary: true }] },
    ],
    change: {
      emails: [{ ...WORK, primary: false }, HOME, { value: 'new@example.com', primary: true }],
    },
  },
  {
    title: 'moves the primary mark by a chosen value',
    operations: [{ op: 'replace', path: 'emails[type eq "home"].primary', value: 'True' }],
    change: {
      emails: [
        { ...WORK, primary: false },
        { ...HOME, primary: true },
      ],
    },
  },
  {
    title: 'replaces all values',
    operations: [{ op: 'replace', path: 'emails', value: [{ value: 'only@example.com' }] }],
    change: { emails: [{ value: 'only@example.com' }] },
  },
  {
    title: 'removes values that are listed',
    operations: [
      { op: 'Remove', path: 'emails', value: [{ $ref: null, value: 'ADA@EXAMPLE.ORG' }] },
    ],
    change: { emails: [WORK] },
  },
  {
    title: 'removes no value for an empty list',
    operations: [{ op: 'remove', path: 'emails', value: [] }],
    change: {},
  },
  {
    title: 'removes all values',
    operations: [{ op: 'remove', path: 'emails' }],
    change: { emails: [] },
  },
  {
    title: 'carries operations out in their order',
    operations: [
      { op: 'remove', path: 'emails' },
      { op: 'add', path: 'emails', value: [HOME] },
      { op: 'replace', path: 'emails.type', value: 'other' },
    ],
    change: { emails: [{ ...HOME, type: 'other' }] },
  },
]

describe('a patch of a user', () => {
  it.each(CASES)('$title', ({ operations, change }) => {
    const members: [string, unknown][] = Object.entries({ ...ADA, ...change })
    const expected = members.filter(([, value]) => value !== undefined)
    expect(patch(...operations)).toEqual(Object.fromEntries(expected))
  })

  it('changes nothing of what it was given', () => {
    const before = structuredClone(ADA)
    for (const { operations } of CASES) patch(...operations)
    expect(ADA).toEqual(before)
  })

  const REFUSED: readonly (readonly [string, unknown])[] = [
    ['invalidSyntax', { op: 'move', path: 'userName' }],
    ['invalidSyntax', { path: 'userName', value: 'x' }],
    ['invalidSyntax', 'replace'],
    ['invalidPath', { op: 'replace', path: 'shoeSize', value: '45' }],
    ['invalidPath', { op: 'replace', path: 'name.shoeSize', value: '45' }],
    ['invalidPath', { op: 'replace', path: 'urn:example:other:x', value: '45' }],
    ['invalidPath', { op: 'replace', path: '__proto__.polluted', value: 'x' }],
    ['invalidPath', { op: 'replace', path: 'constructor', value: 'x' }],
    ['invalidPath', { op: 'replace', path: 'name[givenName eq "x"]', value: 'x' }],
    ['invalidPath', { op: 'replace', path: 5, value: 'x' }],
    ['invalidFilter', { op: 'replace', path: 'emails[colour eq "red"].value', value: 'x' }],
    ['noTarget', { op: 'remove' }],
    ['noTarget', { op: 'replace', path: 'emails[type eq "other"].value', value: 'x@example.com' }],
    ['noTarget', { op: 'add', path: 'emails[type ne "x" and value co "z"].display', value: 'x' }],
    ['mutability', { op: 'replace', path: 'id', value: '8' }],
    ['mutability', { op: 'add', path: 'groups', value: [{ value: '8' }] }],
    ['mutability', { op: 'replace', path: 'meta.created', value: 'x' }],
    ['invalidValue', { op: 'replace', value: 'x' }],
    ['invalidValue', { op: 'replace', path: 'active', value: 'maybe' }],
    ['invalidValue', { op: 'replace', path: 'userName', value: { first: 'x' } }],
    ['invalidValue', { op: 'replace', path: 'userName', value: ['x', 'y'] }],
    ['invalidValue', { op: 'replace', path: 'userName', value: 'x'.repeat(1_025) }],
    ['invalidValue', { op: 'replace', path: 'name', value: 'Ada' }],
    ['invalidValue', { op: 'replace', path: 'emails[type eq "work"]' }],
  ]

  it.each(REFUSED)('is refused as %s: %j', (scimType, operation) => {
    expect(() => applyEdits(ADA, readPatch(USER_TYPE, { Operations: [operation] }))).toThrow(
      expect.objectContaining({ scimType, status: 400 }),
    )
    expect({}).not.toHaveProperty('polluted')
  })

  it.each([
    ['invalidSyntax', undefined],
    ['invalidSyntax', []],
    ['invalidSyntax', {}],
    ['invalidSyntax', { Operations: [] }],
    ['invalidSyntax', { schemas: [USER_SCHEMA], Operations: [{ op: 'remove', path: 'name' }] }],
    ['tooMany', { Operations: Array(1_001).fill({ op: 'remove', path: 'name' }) }],
  ])('is refused as %s for a body that is none', (scimType, body) => {
    expect(() => readPatch(USER_TYPE, body)).toThrow(expect.objectContaining({ scimType }))
  })

  it('keeps an attribute of its own for a group', () => {
    const edits = readPatch(GROUP_TYPE, {
      Operations: [{ op: 'replace', value: { id: '9', displayName: 'Board' } }],
    })
    expect(applyEdits({ displayName: 'x' }, edits)).toEqual({ displayName: 'Board' })
  })
})
