import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../platform/app-error.ts'
import { parseMasterKeys } from '../../platform/secrets/master-key.ts'
import { createSealer } from '../../platform/secrets/sealed-box.ts'
import {
  STREAM_PROFILE_NAMES,
  STREAM_PROFILES,
  toChoiceValues,
  type ChoiceInput,
  type StreamProfileName,
} from './stream-choices.ts'
import type { Stream } from './stream-store.ts'

const sealer = createSealer(parseMasterKeys(Buffer.alloc(32, 7).toString('base64'), 'test'))
const choose = (input: ChoiceInput, base: Stream | StreamProfileName = 'interface') =>
  toChoiceValues(input, { streamId: 'a', sealer, base, pathPrefix: '' })
const streamWith = (input: ChoiceInput) => choose(input) as Stream

function pathsOf(act: () => unknown): string[] | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return error.details?.map(({ path }) => path)
  }
}

describe('choices', () => {
  it('come from the profile of a new stream, but for those that are named', () => {
    expect(choose({}, 'strict')).toMatchObject({ profile: 'strict', subjectForm: 'iss_sub' })
    expect(choose({ profile: 'okta', subjectForm: 'email' })).toMatchObject({
      profile: 'okta',
      specVersion: 'draft',
      subjectForm: 'email',
    })
  })

  it('stay when nothing is named, and are all set anew by a profile', () => {
    const stream = streamWith({ profile: 'sgnl', specVersion: 'both', reasonFields: [] })
    expect(choose({}, stream)).toEqual({ ...stream })
    expect(choose({ subjectForm: 'email' }, stream)).toEqual({ ...stream, subjectForm: 'email' })
    expect(choose({ profile: 'interface' }, stream)).toEqual(streamWith({}))
  })

  it('are kept in one order and once each', () => {
    const reasonFields = ['reason_user', 'reason_admin', 'reason_user'] as const
    expect(choose({ reasonFields })).toMatchObject({
      reasonFields: ['reason_admin', 'reason_user'],
    })
  })

  it('of pairwise identifiers make a secret once, and leave out the name of the device', () => {
    expect(choose({}).pairwiseSecretSealed).toBeNull()
    const pairwise = streamWith({ hasPairwiseIdentifiers: true })
    expect(pairwise.pairwiseSecretSealed).toBeInstanceOf(Buffer)
    expect(pairwise.reasonDetails).toEqual(['issue_titles'])
    const again = choose({ hasPairwiseIdentifiers: true }, pairwise)
    expect(again.pairwiseSecretSealed).toBe(pairwise.pairwiseSecretSealed)
  })

  it('that contradict one another are refused with the place', () => {
    const pairwise = { hasPairwiseIdentifiers: true } as const
    expect(pathsOf(() => choose({ ...pairwise, subjectForm: 'email' }))).toEqual(['subject_form'])
    expect(pathsOf(() => choose(pairwise, streamWith({ subjectForm: 'email' })))).toEqual([
      'subject_form',
    ])
    const named = { ...pairwise, reasonDetails: ['device_name'] } as const
    expect(pathsOf(() => choose(named))).toEqual(['reason_details'])
  })
})

it('are documented as they are', () => {
  const guide = readFileSync(join(import.meta.dirname, '../../../../../docs/ssf.md'), 'utf8')
  for (const name of STREAM_PROFILE_NAMES) {
    const choices = STREAM_PROFILES[name]
    const cells = [
      `\`${name}\``,
      choices.specVersion,
      choices.subjectForm,
      choices.hasOpaqueIdentifiers ? 'yes' : 'no',
      choices.omitsMoreAvailable ? 'yes' : 'no',
      choices.usesLegacyStatusCodes ? 'yes' : 'no',
    ]
    const rows = guide.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
    expect(rows.filter((row) => cells.every((cell, at) => row[at + 1] === cell))).toHaveLength(1)
    expect(choices).toMatchObject({ reasonFields: STREAM_PROFILES.interface.reasonFields })
  }
})
