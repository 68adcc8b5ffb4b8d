import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { parseCheckpoint, splitNotes, toCheckpointText, verifyCheckpoint } from './checkpoint.ts'
import {
  parseVerifierKey,
  signNote,
  toPublicKey,
  toVerifierKeyText,
  type VerifierKey,
} from './signed-note.ts'

/** The key of RFC 8032 section 7.1, test 1, in the form of RFC 8410. */
const KEY = createPrivateKey({
  key: Buffer.from(
    '302e020100300506032b6570042204209d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    'hex',
  ),
  format: 'der',
  type: 'pkcs8',
})
const ORIGIN = 'example.com/audit/1'
const OWN: VerifierKey = { name: ORIGIN, publicKey: toPublicKey(KEY) }
const AT = new Date('2026-05-06T07:08:09.123Z')
const HEAD = { origin: ORIGIN, size: 17, root: Buffer.alloc(32, 5) }

const SIGNERS = [{ name: ORIGIN, privateKey: KEY }]
const signed = signNote(toCheckpointText(HEAD), SIGNERS, AT)

function verify(note: string, keys: readonly VerifierKey[] = [OWN]) {
  const checkpoint = parseCheckpoint(note)
  return checkpoint && verifyCheckpoint(checkpoint, keys)
}

describe('a checkpoint', () => {
  it('has the form of the specification: origin, size, root, an empty line and signatures', () => {
    expect(signed.split('\n')).toEqual([
      ORIGIN,
      '17',
      'BQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQU=',
      '',
      expect.stringMatching(/^— example\.com\/audit\/1 [A-Za-z0-9+/]+=*$/),
      expect.stringMatching(/^— example\.com\/audit\/1 [A-Za-z0-9+/]+=*$/),
      '',
    ])
  })

  it('says what was signed and when, to the second', () => {
    const signedAt = new Date('2026-05-06T07:08:09Z')
    expect(verify(signed)).toEqual({ ...HEAD, signedAt, note: signed })
  })

  it.each([
    ['another size', signed.replace('\n17\n', '\n18\n')],
    ['another root', signed.replace('BQUF', 'BAUF')],
    ['another origin', signed.replaceAll(ORIGIN, 'example.com/audit/2')],
    ['no signature', signed.slice(0, signed.indexOf('—'))],
    ['an extension that nobody signed', signed.replace('=\n\n', '=\nmore\n\n')],
    ['nothing', ''],
  ])('is refused with %s', (_name, note) => {
    expect(verify(note)).toBeUndefined()
  })

  it('is refused when a stranger signed it under the name of the log', () => {
    const { privateKey } = generateKeyPairSync('ed25519')
    expect(
      verify(signNote(toCheckpointText(HEAD), [{ name: ORIGIN, privateKey }], AT)),
    ).toBeUndefined()
  })

  it('is refused when a known key signed another time than it says', () => {
    const later = signNote(toCheckpointText(HEAD), SIGNERS, new Date('2026-05-06T07:08:10Z'))
    const [, , timed] = signed.split(/(?=— )/)
    const timeOf = (line = '') => Buffer.from(line.split(' ')[2] ?? '', 'base64')
    const [, , otherLine] = later.split(/(?=— )/)
    const forged = Buffer.concat([
      timeOf(otherLine).subarray(0, 12),
      timeOf(timed).subarray(12),
    ]).toString('base64')
    expect(verify(signed.replace(timed ?? '', `— ${ORIGIN} ${forged}\n`))).toBeUndefined()
  })

  it('is good with the signatures of witnesses below those of the log', () => {
    expect(verify(`${signed}— witness.example/1 ${Buffer.alloc(76).toString('base64')}\n`)).toEqual(
      expect.objectContaining({ size: 17 }),
    )
  })

  it('is read from a file of many, also when the last one was cut off while it was written', () => {
    const other = signNote(toCheckpointText({ ...HEAD, size: 20 }), SIGNERS, AT)
    expect(splitNotes(`${signed}\n${other}\n${signed.slice(0, 30)}`)).toEqual([signed, other])
    expect(splitNotes(`${signed.slice(0, 30)}\n\n${signed}\n${other}`)).toEqual([signed, other])
    expect(splitNotes(signed)).toEqual([signed])
    expect(splitNotes('')).toEqual([])
  })
})

describe('a verifier key', () => {
  it('is read as it was written', () => {
    expect(parseVerifierKey(toVerifierKeyText(OWN))).toEqual(OWN)
  })

  it('is refused when its id is that of another key', () => {
    const text = toVerifierKeyText({ ...OWN, name: 'example.com/other' })
    expect(parseVerifierKey(text.replace('example.com/other', ORIGIN))).toBeUndefined()
    expect(parseVerifierKey('no key')).toBeUndefined()
  })
})
