/*
 * An authenticator in software: makes passkeys and answers with them as a browser does. What it says can be
 * falsified, to see it refused. W3C Web Authentication, sections 6.1 and 6.5.
 */
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'
import type {
  AuthenticationResponseJSON,
  RegistrationResponseJSON,
} from '../../src/organisation/admin-sign-in/webauthn.ts'

/** What is falsified. */
export interface Falsified {
  readonly origin?: string
  readonly rpId?: string
  readonly challenge?: string
  readonly counter?: number
  readonly isUserVerified?: boolean
  readonly type?: string
  readonly isSignatureBroken?: boolean
  readonly userHandle?: string
}

const USER_PRESENT = 0x01
const USER_VERIFIED = 0x04
const CREDENTIAL_DATA = 0x40

export class SoftwareAuthenticator {
  readonly #origin: string
  readonly #rpId: string
  readonly #id = randomBytes(16)
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  #userHandle = ''
  #counter = 0

  constructor(origin: string) {
    this.#origin = origin
    this.#rpId = new URL(origin).hostname
  }

  /** Makes the passkey for the options of a registration. */
  register(
    options: { readonly challenge: string; readonly user: { readonly id: string } },
    falsified: Falsified = {},
  ): RegistrationResponseJSON {
    this.#userHandle = options.user.id
    const authData = Buffer.concat([
      this.#authenticatorData(falsified, CREDENTIAL_DATA),
      Buffer.alloc(16),
      Buffer.from([0, this.#id.length]),
      this.#id,
      toCose(this.#keys.publicKey),
    ])
    const attestation = Buffer.concat([
      Buffer.from([0xa3]),
      ...[toCborText('fmt'), toCborText('none')],
      ...[toCborText('attStmt'), Buffer.from([0xa0])],
      ...[toCborText('authData'), toCborBytes(authData)],
    ])
    const clientData = this.#clientData('webauthn.create', options.challenge, falsified)
    return {
      ...this.#credential(),
      response: {
        clientDataJSON: clientData.toString('base64url'),
        attestationObject: attestation.toString('base64url'),
        transports: ['internal'],
      },
    }
  }

  /** Answers the options of an authentication. */
  authenticate(
    options: { readonly challenge: string },
    falsified: Falsified = {},
  ): AuthenticationResponseJSON {
    this.#counter += 1
    const authData = this.#authenticatorData(falsified, 0)
    const clientData = this.#clientData('webauthn.get', options.challenge, falsified)
    const signed = Buffer.concat([authData, createHash('sha256').update(clientData).digest()])
    const signature = sign('sha256', signed, this.#keys.privateKey)
    if (falsified.isSignatureBroken === true) signature.reverse()
    return {
      ...this.#credential(),
      response: {
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: authData.toString('base64url'),
        signature: signature.toString('base64url'),
        userHandle: falsified.userHandle ?? this.#userHandle,
      },
    }
  }

  #credential() {
    const id = this.#id.toString('base64url')
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {} } as const
  }

  #authenticatorData({ rpId, counter, isUserVerified }: Falsified, flags: number): Buffer {
    const head = Buffer.alloc(37)
    createHash('sha256')
      .update(rpId ?? this.#rpId)
      .digest()
      .copy(head)
    head[32] = flags | USER_PRESENT | (isUserVerified === false ? 0 : USER_VERIFIED)
    head.writeUInt32BE(counter ?? this.#counter, 33)
    return head
  }

  #clientData(type: string, challenge: string, falsified: Falsified): Buffer {
    const said = {
      type: falsified.type ?? type,
      challenge: falsified.challenge ?? challenge,
      origin: falsified.origin ?? this.#origin,
      crossOrigin: false,
    }
    return Buffer.from(JSON.stringify(said))
  }
}

/** The COSE form of a P-256 key (RFC 9053 section 7.1.1). */
function toCose(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' })
  return Buffer.concat([
    Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
    toCborBytes(Buffer.from(x, 'base64url')),
    Buffer.from([0x22]),
    toCborBytes(Buffer.from(y, 'base64url')),
  ])
}

function toCborText(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)])
}

function toCborBytes(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x58, bytes.length]), bytes])
}
