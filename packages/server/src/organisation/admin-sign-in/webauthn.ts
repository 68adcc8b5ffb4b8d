/*
 * The ceremonies of WebAuthn for the site of the console: what a browser is asked, and whether what it answers is
 * by the passkey that it says it is. W3C Web Authentication Level 3, sections 7.1 and 7.2. Owns no passkeys.
 */
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'
import { createHash } from 'node:crypto'
import type { AppError } from '../../platform/app-error.ts'
import type { Admin } from '../admins/find-admin.ts'
import type { ConsoleSite } from './console-site.ts'
import type { Passkey } from './passkey-store.ts'
import { passkeyRefused } from './sign-in.ts'
import { CHALLENGE_LIFETIME_MS, hashChallenge, type Challenges } from './webauthn-challenge.ts'

export type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'

/** A passkey that a browser has just made. */
export type NewPasskey = Pick<
  Passkey,
  'credentialId' | 'publicKey' | 'counter' | 'transports' | 'isBackedUp'
>

/** What a ceremony has proven; its challenge must not be taken again. */
export interface Proven<Result> {
  readonly result: Result
  readonly challengeHash: Buffer
}

/** The ceremonies; a purpose names what they are for and whose session begins or goes on. */
export interface WebAuthn {
  /** Asks for a new passkey that the authenticator finds by itself, and that verifies its user. */
  toRegistrationOptions(
    purpose: string,
    admin: Admin,
    present: readonly Passkey[],
  ): Promise<PublicKeyCredentialCreationOptionsJSON>
  /** @throws AppError `sign_in_failed` */
  verifyRegistration(
    purpose: string,
    response: RegistrationResponseJSON,
  ): Promise<Proven<NewPasskey>>
  /** Asks for any of these passkeys; without them, for one that the authenticator finds. */
  toAuthenticationOptions(
    purpose: string,
    passkeys?: readonly Passkey[],
  ): Promise<PublicKeyCredentialRequestOptionsJSON>
  /**
   * The counter that the passkey says.
   *
   * @throws AppError `sign_in_failed`
   */
  verifyAuthentication(
    purpose: string,
    response: AuthenticationResponseJSON,
    owned: { readonly passkey: Passkey; readonly admin: Admin },
  ): Promise<Proven<number>>
}

const RP_NAME = 'Heliograph'

/** EdDSA, ES256 and RS256 (RFC 9053): what authenticators have. */
const ALGORITHMS = [-8, -7, -257]

/** The ceremonies of a site. The library is loaded when the first of them takes place. */
export function createWebAuthn(site: ConsoleSite, challenges: Challenges): WebAuthn {
  const expect: ExpectAnswer = (purpose) => {
    const seen = { challenge: '' }
    return {
      expected: {
        expectedOrigin: [site.origin],
        expectedRPID: site.rpId,
        requireUserVerification: true,
        expectedChallenge: (challenge: string) => {
          seen.challenge = challenge
          return challenges.isFor(purpose, challenge)
        },
      },
      prove: (result) => ({
        result,
        challengeHash: hashChallenge(seen.challenge),
      }),
    }
  }
  return { ...registration(site, challenges, expect), ...authentication(site, challenges, expect) }
}

/** What an answer for a purpose must say, and what it has proven then. */
type ExpectAnswer = (purpose: string) => {
  readonly expected: {
    readonly expectedOrigin: string[]
    readonly expectedRPID: string
    readonly requireUserVerification: boolean
    readonly expectedChallenge: (challenge: string) => boolean
  }
  readonly prove: <Result>(result: Result) => Proven<Result>
}

function registration(
  { rpId }: ConsoleSite,
  challenges: Challenges,
  expect: ExpectAnswer,
): Pick<WebAuthn, 'toRegistrationOptions' | 'verifyRegistration'> {
  return {
    toRegistrationOptions: async (purpose, admin, present) => {
      const { generateRegistrationOptions } = await import('@simplewebauthn/server')
      return generateRegistrationOptions({
        rpName: RP_NAME,
        rpID: rpId,
        userName: admin.email,
        userDisplayName: `${admin.firstName} ${admin.lastName}`,
        userID: new Uint8Array(userHandleOf(admin)),
        challenge: new Uint8Array(challenges.issue(purpose)),
        timeout: CHALLENGE_LIFETIME_MS,
        attestationType: 'none',
        supportedAlgorithmIDs: ALGORITHMS,
        excludeCredentials: present.map(toDescriptor),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      })
    },
    verifyRegistration: async (purpose, response) => {
      const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
      const { expected, prove } = expect(purpose)
      const { registrationInfo } = await refuseFaults(() =>
        verifyRegistrationResponse({ response, ...expected, supportedAlgorithmIDs: ALGORITHMS }),
      )
      if (registrationInfo === undefined) throw passkeyRefused()
      const { credential, credentialBackedUp } = registrationInfo
      return prove({
        credentialId: Buffer.from(credential.id, 'base64url'),
        publicKey: Buffer.from(credential.publicKey),
        counter: String(credential.counter),
        transports: [...(credential.transports ?? [])],
        isBackedUp: credentialBackedUp,
      })
    },
  }
}

function authentication(
  { rpId }: ConsoleSite,
  challenges: Challenges,
  expect: ExpectAnswer,
): Pick<WebAuthn, 'toAuthenticationOptions' | 'verifyAuthentication'> {
  return {
    toAuthenticationOptions: async (purpose, passkeys = []) => {
      const { generateAuthenticationOptions } = await import('@simplewebauthn/server')
      return generateAuthenticationOptions({
        rpID: rpId,
        challenge: new Uint8Array(challenges.issue(purpose)),
        timeout: CHALLENGE_LIFETIME_MS,
        userVerification: 'required',
        allowCredentials: passkeys.map(toDescriptor),
      })
    },
    verifyAuthentication: async (purpose, response, { passkey, admin }) => {
      const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
      const { userHandle } = response.response
      const isOthers =
        userHandle !== undefined && userHandle !== userHandleOf(admin).toString('base64url')
      if (isOthers) throw passkeyRefused()
      const { expected, prove } = expect(purpose)
      const { verified, authenticationInfo } = await refuseFaults(() =>
        verifyAuthenticationResponse({
          response,
          ...expected,
          credential: {
            id: passkey.credentialId.toString('base64url'),
            publicKey: new Uint8Array(passkey.publicKey),
            counter: Number(passkey.counter),
          },
        }),
      )
      if (!verified) throw passkeyRefused()
      return prove(authenticationInfo.newCounter)
    },
  }
}

/** What authenticators know an admin by: the same for all of its passkeys, and nothing that names it. */
function userHandleOf({ id, createdAt }: Admin): Buffer {
  return createHash('sha256').update(`${id} ${createdAt.toISOString()}`).digest()
}

function toDescriptor({ credentialId, transports }: Passkey) {
  return { id: credentialId.toString('base64url'), transports }
}

/** Whatever the library finds wrong is the fault of the answer, which comes from a browser. */
async function refuseFaults<Result>(verify: () => Promise<Result>): Promise<Result> {
  try {
    return await verify()
  } catch (error) {
    throw passkeyRefused(error) satisfies AppError
  }
}
