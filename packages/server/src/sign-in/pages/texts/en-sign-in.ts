/* What the pages of a sign-in say in English. */

/** What is said of an issue. */
export const issues = {
  fixed: 'Fixed',
  exempted: 'Exempted',
  blocks: 'Blocks now',
  blocksPrefix: 'Blocks',
  notice: 'For your notice',
  foundTitle: 'What was found',
  exactAnswer: 'The answer of the device as it was',
  stepsTitle: 'What to do',
  takes: (minutes: number) => `about ${minutes} min`,
  openSettings: 'Open the settings',
  fixedIt: 'I have fixed it',
  asking: 'Your device is being asked. This takes a second or two while it is online.',
  stillFailing: 'Your device has answered: it is still so.',
  passing: 'Your device has answered: this is in order now.',
  lastChecked: 'Last checked',
  askExemption: 'I cannot fix this: ask for an exemption',
  exemptionMore: 'An admin decides, usually within a working day. You will see the decision here.',
  exemptionReason: 'Why can this not be fixed?',
  sendRequest: 'Send the request',
  snooze: 'Not now: remind me later',
  snoozeMore: 'Until then your sign-ins go on without it. You can put it off once in a week.',
  snoozeStillBlocks:
    'Until then your sign-ins go on without showing it. It blocks at the same time all the same. You can put it off once in a week.',
  snoozeFor: (days: number): string => (days === 1 ? 'In 1 day' : `In ${days} days`),
  snoozedUntil: 'You are reminded again on',
  remindAgain: 'Remind me again now',
  exemptionOpen: 'You have asked for an exemption. An admin has not decided yet.',
  exemptedUntil: 'It does not count until',
  withdraw: 'Withdraw my request',
  exemptionDenied: 'Your last request for an exemption was denied.',
}

/** What is said of a sign-in. */
export const attempt = {
  personTitle: 'Not signed in yet',
  whoHere: 'Your sign-in has not come back from your provider yet.',
  whoSignsIn: (application: string) =>
    `Your sign-in to ${application} has not come back from your provider yet.`,
  whoMore:
    'Sign in at your provider, in the window that asks for it, or begin again where you came from.',
  email: 'Your email address at work',
  goOn: 'Go on',
  proofTitle: 'Recognising your device',
  proof: 'Recognising your device …',
  proofMore: (name: string) =>
    `${name === '' ? 'Your' : `${name}, your`} browser opens three connections, and your devices are asked which of them holds these. It takes a few seconds.`,
  proofWithoutScript: 'Your browser runs no scripts, so it cannot open these connections.',
  otherWay: 'Go on another way',
  postureTitle: 'Checking your device',
  posture: (device: string) => `Checking how ${device === '' ? 'your device' : device} is doing …`,
  blockedTitle: 'Blocked for now',
  blocked: (count: number) =>
    count <= 1
      ? 'You can sign in as soon as one thing is fixed.'
      : `You can sign in as soon as ${count} things are fixed.`,
  blockedMore: 'Fix what blocks below. This page notices it and goes on by itself.',
  warnedTitle: 'You can continue',
  warned: 'You can continue.',
  warnedMore: 'Your device has something that you should know of.',
  fixBefore: 'Fix what is below before',
  orBlocked: (device: string) => `, or ${device} will be blocked.`,
  thisDevice: 'this device',
  continueNow: 'Continue',
  otherWays: 'Other ways',
  otherDeviceTitle: 'Use another device of yours',
  otherDevice: 'Begin the sign-in again on a device that is in order.',
  contactTitle: 'Ask for help',
  contact: (id: string) => `Name this number to your IT team: ${id}`,
  doneTitle: 'Signed in',
  done: (name: string) => `Everything is in order. You go on to ${name}.`,
  yourPages: 'your devices',
  goesOn: (seconds: number) => `This goes on by itself in ${seconds} seconds.`,
  goTo: (name: string) => `Go to ${name}`,
  stayHere: 'Stay here',
  refusedTitle: 'Not signed in',
  refused: 'You were not signed in.',
  refusedDevice: (device: string) => `The device was ${device}.`,
  beginAgain: 'To try again, begin where you came from.',
  backToApplication: 'Back to where I came from',
  forAdmins: (code: string, id: string) => `For admins: ${code}, sign-in ${id}`,
  abandonedTitle: 'Ended',
  abandoned: 'This sign-in took too long and has ended.',
  cancel: 'Cancel this sign-in',
  seen: 'seen',
  howKnown: {
    live: 'This browser runs on it: it holds the connections of this page',
    hardware: 'Known by a key in its hardware',
    approved: 'Known by an approval',
    key: 'Known by the key of this browser',
    none: 'Not recognised',
  },
  notMyDevice: 'That is not my device',
  refusals: {
    person_unknown: 'Nobody with this address is known here.',
    person_ended: 'Your account has been switched off.',
    account_changed:
      'You have another account at your identity provider than when you signed in first. Tell your IT team.',
    person_missing: 'The application does not say who signs in. Tell your IT team.',
    upstream_unreachable: 'Your identity provider cannot be reached at the moment.',
    upstream_refused: 'Your identity provider did not let you in, or you have cancelled there.',
    upstream_person_mismatch:
      'At your identity provider you are somebody else than the application says. Sign out there and begin again.',
    device_unknown:
      'It could not be shown that you sit at a device that this organisation knows. Use a device from work.',
    device_unreachable: 'Your device does not answer. Check that it is online, and begin again.',
    proof_unavailable: 'The connection that shows which device you sit at could not be opened.',
    relayed:
      'Somebody else has opened connections that belong to your sign-in. It was stopped to protect you. If you came here by a link in a message, report it.',
    device_of_another_person: 'This device is registered to somebody else.',
    device_reassigned:
      'This device was registered to you. It is registered to somebody else now. Ask your IT team if that is wrong.',
    other_os_user: 'You are signed in to this device as another user than its owner.',
    registration_ended:
      'The registration of this device to you has ended. Begin again to register it anew.',
    registration_refused: 'New devices cannot be registered by signing in. Ask your IT team.',
    registration_denied: 'The registration of this device was denied.',
    assurance_too_low: 'This application asks for a stronger proof of your device.',
    request_unmet:
      'This application asks for another person, or for a stronger proof of your device.',
    fallback_denied: 'Your request was denied.',
    device_blocked: 'Your device is blocked until its issues are resolved.',
    not_my_device: 'You said that this is not your device, so the sign-in was stopped.',
    cancelled: 'You have cancelled the sign-in.',
    application_disabled: 'This application is switched off here.',
  },
}

/** What is said to whoever has a new device, or one that could not be recognised. */
export const ladder = {
  registrationTitle: 'A new device',
  register: (device: string) => `Is ${device} yours?`,
  registerMore:
    'It is here for the first time. Registered to you, it can be used to sign in, and its checks are shown to you.',
  registerAgain: 'Your registration of this device has ended',
  registerAgainMore: 'It can be used to sign in once it is registered to you again.',
  message: 'A message to whoever decides',
  messageHint: 'It is read if an admin has to decide.',
  registerNow: 'Yes, register it to me',
  fallbackTitle: 'Another way',
  fallback: 'Your device could not be recognised.',
  fallbackMore: 'There are other ways to show that you are you.',
  waiting: 'Waiting for a confirmation …',
  waitingMore: 'Leave this page open: it goes on by itself.',
  openOther: 'Open “My devices” on a device that is registered to you, and confirm there.',
  adminDecides: 'An admin has been asked to approve.',
  compare: 'Type this number there:',
  certificateMissing:
    'Your browser has shown no certificate. Close all its windows, begin again, and choose the certificate when it asks.',
  certificateUnknown:
    'None of your devices says that the certificate is its own. Check that it is online, or take another way.',
  ways: {
    registered_device: {
      title: 'Confirm from another device of yours',
      more: 'On a device that is registered to you, and in order.',
      action: 'Use another device',
    },
    certificate: {
      title: 'Use the certificate of this device',
      more: 'Your browser asks which certificate to show.',
      action: 'Use a certificate',
    },
    admin_approval: {
      title: 'Ask an admin',
      more: 'Somebody of your IT team looks at it and decides.',
      action: 'Ask for approval',
    },
    browser_key: {
      title: 'Use the key of this browser',
      more: 'It was bound to your device when you last signed in here. Not every application takes it.',
      action: 'Use this browser',
    },
  },
}

/** What the OpenID provider says by itself. */
export const provider = {
  signOut: 'Sign out',
  signOutQuestion: 'Do you want to sign out?',
  signOutMore: 'What was granted to the application that sent you here ends at once.',
  signOutOfAllMore: 'What was granted to applications in this browser ends at once.',
  signOutOf: (site: string) => `Do you want to sign out of ${site}?`,
  signOutOfMore: 'In this browser the site is closed to you until you sign in again.',
  staySignedIn: 'Stay signed in',
  signedOut: 'You have signed out.',
  signedOutMore: 'You can close this page.',
  fault: 'This sign-in cannot go on.',
  signOutFault: 'You were not signed out.',
}
