/**
 * Every reason for which a sign-in is refused, with what the person reads and what an admin does about it.
 */
export const REFUSALS = {
  person_unknown: {
    words: 'Nobody with this address is known here.',
    remedy:
      'Provision the person by SCIM or the API, or let the application push its requests or sign them, or set it to an upstream provider.',
  },
  person_ended: {
    words: 'Your account has been switched off.',
    remedy: 'Switch the person on again at the identity provider.',
  },
  account_changed: {
    words: 'You have another account at your identity provider than when you signed in first.',
    remedy:
      'Find out whether the name of the account was given to somebody else. Where the person has a new account by right, forget the former one (`DELETE /sign_in_entra_accounts/{id}`).',
  },
  person_missing: {
    words: 'The application does not say who signs in.',
    remedy:
      'Let the application send `login_hint` or `id_token_hint`, or set it to an upstream provider.',
  },
  upstream_unreachable: {
    words: 'Your identity provider cannot be reached at the moment.',
    remedy: 'Check the upstream provider (`POST /sign_in_upstream_providers/{id}/check`).',
  },
  upstream_refused: {
    words: 'Your identity provider did not let you in, or you have cancelled there.',
    remedy: 'Look at the log of the upstream provider.',
  },
  upstream_person_mismatch: {
    words: 'At your identity provider you are somebody else than the application says.',
    remedy: 'The person signs out at the upstream provider and begins again.',
  },
  device_unknown: {
    words: 'It could not be shown that you sit at a device that this organisation knows.',
    remedy:
      'Enroll the device, or give the policy a fallback. The evidence is in the record of the sign-in.',
  },
  device_unreachable: {
    words: 'Your device does not answer. Check that it is online, and begin again.',
    remedy:
      'See when the device was last in contact; `unreachable_device` of the policy decides what happens.',
  },
  proof_unavailable: {
    words: 'The connection that shows which device you sit at could not be opened.',
    remedy:
      'Open `HELIOGRAPH_PROBE_PORTS` to browsers, name local proxies in the policy, or give it a fallback.',
  },
  relayed: {
    words:
      'Somebody else has opened connections that belong to your sign-in. It was stopped to protect you. If you came here by a link in a message, report it.',
    remedy:
      'Treat it as a phishing attempt until you know better; the evidence names the addresses.',
  },
  device_of_another_person: {
    words: 'This device is registered to somebody else.',
    remedy: 'Change the owner of the device, or its authentication mode.',
  },
  device_reassigned: {
    words: 'This device was registered to you. It is registered to somebody else now.',
    remedy: 'See the audit log of the device for who changed its owner; change it back if need be.',
  },
  other_os_user: {
    words: 'You are signed in to this device as another user than its owner.',
    remedy: 'Change the authentication mode of the device where several people share it.',
  },
  registration_ended: {
    words: 'The registration of this device to you has ended. Begin again to register it anew.',
    remedy: 'See the audit log of the device for who ended its registration.',
  },
  registration_refused: {
    words: 'New devices cannot be registered by signing in.',
    remedy: 'Register the device in the console, or change the policy.',
  },
  registration_denied: {
    words: 'The registration of this device was denied.',
    remedy: 'See the registration requests.',
  },
  assurance_too_low: {
    words: 'This application asks for a stronger proof of your device.',
    remedy: 'Lower `minimum_assurance` of the application, or give the person a stronger way.',
  },
  request_unmet: {
    words: 'This application asks for another person, or for a stronger proof of your device.',
    remedy:
      'See the essential `acr`, the `sub` and the `id_token_hint` that the application sends, or give the person a stronger way.',
  },
  fallback_denied: {
    words: 'Your request was denied.',
    remedy: 'See the requests for approval.',
  },
  device_blocked: {
    words: 'Your device is blocked until its issues are resolved.',
    remedy: 'See the issues of the device.',
  },
  not_my_device: {
    words: 'You said that this is not your device. The sign-in was stopped.',
    remedy: 'See the evidence of the proof in the record of the sign-in.',
  },
  cancelled: {
    words: 'You have cancelled the sign-in.',
    remedy: 'Nothing needs to be done.',
  },
  application_disabled: {
    words: 'This application is switched off here.',
    remedy: 'Switch the application on.',
  },
} as const satisfies Record<string, { readonly words: string; readonly remedy: string }>

/** Why a sign-in was refused. */
export type RefusalCode = keyof typeof REFUSALS
