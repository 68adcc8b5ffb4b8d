/* The texts of the device from which the console is used. */
export const texts = {
  required: 'This console asks for a trusted device',
  optional: 'Prove your device',
  lead: (email: string) =>
    `Admins use it from a device that is registered to them and in order. You are signed in as ${email}; the device is asked next.`,
  trusted: 'Your device is trusted',
  trustedLead: 'This session is bound to the device that you have just proven.',
  problems: {
    unbound: 'This session has not proven its device yet.',
    proof_ended: 'The proof of your device is over.',
    other_person:
      'The device was proven by a person with another email address than yours as an admin.',
    person_switched_off: 'The person with your email address is switched off.',
    assurance_too_low:
      'Your device was let through without a proof: the key of a browser and the break-glass group do not count here.',
    device_gone: 'The device is not registered to you any more, or not enrolled.',
    device_blocked: 'Your device is Blocked.',
  },
  prove: 'Continue with this device',
  proving: 'Looking at your device',
  seeIssues: 'See what blocks it',
  again: 'Look again',
  goOn: 'Go on to the console',
  signOut: 'Sign out',
  help: 'No trusted device?',
  helpText:
    'Another admin can approve the registration of yours. On the machine of the service, "heliograph admins allow-any-device" lets admins in from any device again.',
  switchLabel: 'Admins use the console from trusted devices alone',
  switchHelp:
    'An admin must have proven a device that is registered to the person with the same email address, and is not Blocked. API keys are not asked.',
  switchOnTitle: 'Ask admins for a trusted device?',
  switchOn: 'Ask for a trusted device',
  switchOnHelp:
    'Every session must prove its device from now on, and one whose device becomes Blocked opens nothing at its next request.',
  switchOffHelp: 'Admins use the console from any device again.',
  proveFirst: 'Prove your own device first, so that you are not locked out.',
  proveOwn: 'Prove your device',
  lockedOut: (count: number) =>
    count === 1
      ? '1 admin has no device that would be trusted now:'
      : `${count} admins have no device that would be trusted now:`,
  nobodyLockedOut: 'Every admin has a device that would be trusted.',
  more: (count: number) => `and ${count} more`,
  lockedOutBecause: {
    no_person: 'no person has this email address',
    no_device: 'no device is registered to them',
    device_blocked: 'blocked',
  },
} as const
